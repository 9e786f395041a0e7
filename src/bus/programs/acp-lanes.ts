/**
 * Lanes: one ACP connection for each routing session of the bus, on one pair of pipes.
 *
 * The bus routes by the top-level `sessionId`, which ACP does not know. Here it is taken off what
 * comes in and put on whatever its connection sends, so nothing has to be learnt or guessed, and
 * clients that share this process do not share what they said in `initialize`. Ids are renumbered
 * both ways: two connections may ask under the same number, and any scalar may be an id.
 */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { cancelledId, isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { CODE } from './program-error.ts';
import type { LineOutput, LineProgram } from './stdio-lines.ts';

/** Above it the lane idle for longest is closed; its client begins again with `initialize`. */
const LANES_MAX = 1_024;
const ASKED_MAX = 10_000;

export interface LaneConnection {
  close(): void;
}

export interface LanesOptions {
  readonly output: LineOutput;
  /** Makes the agent's side of a lane. */
  open(stream: Stream, lane: string | null): LaneConnection;
  note(text: string): void;
  /** Ends with the program: what sessions hold open. */
  close?(): Promise<void>;
  readonly lanesMax?: number;
}

interface Lane {
  readonly session: string | null;
  readonly connection: LaneConnection;
  give(message: JsonObject): void;
  isInitialized: boolean;
  /** Waits for the answer to `initialize`, which the SDK wants before anything else. */
  held: JsonObject[] | null;
  inFlight: number;
}

interface Asked {
  readonly lane: Lane;
  /** The client's id; undefined for our own `initialize`. */
  readonly id: unknown;
  readonly method: string;
  readonly agentSession: string | undefined;
}

interface Question {
  readonly lane: Lane;
  readonly id: unknown;
}

export function createLanes(options: LanesOptions): LineProgram {
  const { output, note, lanesMax = LANES_MAX } = options;
  const lanes = new Map<string | null, Lane>();
  /** Requests of clients, by the number their connection knows them under. */
  const asked = new Map<number, Asked>();
  /** Requests of the agent, by the id the client sees. */
  const questions = new Map<string, Question>();
  let count = 0;
  /** What a client said that initialised without a session; lanes that say nothing inherit it. */
  let greeting: unknown = { protocolVersion: 1, clientCapabilities: {} };
  const idle = Promise.withResolvers<void>();
  let isEnding = false;

  function laneOf(session: string | null): Lane | null {
    const known = lanes.get(session);
    if (known !== undefined) {
      // The map's order is the order of use.
      lanes.delete(session);
      lanes.set(session, known);
      return known;
    }
    if (lanes.size >= lanesMax && !closeIdlest()) return null;
    const lane = openLane(session);
    lanes.set(session, lane);
    return lane;
  }
  function closeIdlest(): boolean {
    for (const [session, lane] of lanes) {
      if (lane.inFlight > 0) continue;
      lanes.delete(session);
      lane.connection.close();
      return true;
    }
    return false;
  }
  function openLane(session: string | null): Lane {
    let enqueue: (message: AnyMessage) => void = () => {};
    const readable = new ReadableStream<AnyMessage>({
      start(controller) {
        enqueue = (message) => controller.enqueue(message);
      },
    });
    const writable = new WritableStream<AnyMessage>({
      async write(message) {
        leave(lane, message as unknown as JsonObject);
        await output.drained();
      },
    });
    const lane: Lane = {
      session,
      connection: options.open({ readable, writable }, session),
      give: (message) => enqueue(message as unknown as AnyMessage),
      isInitialized: false,
      held: null,
      inFlight: 0,
    };
    return lane;
  }

  function ask(lane: Lane, request: { id: unknown; method: string; params: unknown }): JsonObject {
    const { id, method, params } = request;
    count += 1;
    asked.set(count, { lane, id, method, agentSession: textAt(params, 'sessionId') });
    lane.inFlight += 1;
    return { jsonrpc: '2.0', id: count, method, ...(params !== undefined && { params }) };
  }
  /** Gives it to the connection, behind an `initialize` if there was none yet. */
  function give(lane: Lane, message: JsonObject): void {
    if (lane.held !== null) {
      // Only what arrives before the agent has answered: no more than one read brings.
      lane.held.push(message);
      return;
    }
    const isGreeting = message.method === 'initialize';
    if (isGreeting || (!lane.isInitialized && message.id !== undefined)) lane.held = [];
    if (lane.held !== null && !isGreeting) {
      lane.held.push(message);
      lane.give(ask(lane, { id: undefined, method: 'initialize', params: greeting }));
    } else lane.give(message);
  }
  function release(lane: Lane): void {
    const { held } = lane;
    lane.held = null;
    for (const message of held ?? []) give(lane, message);
  }

  /** A message of the agent on its way out. */
  function leave(lane: Lane, message: JsonObject): void {
    const { id, method, params } = message;
    const session = lane.session === null ? {} : { sessionId: lane.session };
    if (typeof method !== 'string') return leaveAnswer(lane, message, session);
    if (id !== undefined) {
      count += 1;
      const ours = `a${count}`;
      questions.set(ours, { lane, id });
      output.send({ jsonrpc: '2.0', id: ours, method, ...session, params });
      if (isEnding) refuseQuestions();
      return;
    }
    if (method === '$/cancel_request') return withdraw(lane, params, session);
    const requestId = soleRequestOf(lane, textAt(params, 'sessionId'));
    const ext = requestId === undefined ? {} : { _ext: { requestId } };
    output.send({ jsonrpc: '2.0', method, ...session, params, ...ext });
  }
  function leaveAnswer(lane: Lane, message: JsonObject, session: JsonObject): void {
    const request = typeof message.id === 'number' ? asked.get(message.id) : undefined;
    if (request === undefined) {
      note(`an answer to nothing was not sent: ${JSON.stringify(message.error ?? null)}`);
      return;
    }
    asked.delete(message.id as number);
    lane.inFlight -= 1;
    if (request.id !== undefined) output.send({ ...message, id: request.id, ...session });
    if (request.method === 'initialize') {
      lane.isInitialized ||= 'result' in message;
      release(lane);
    }
    if (isEnding && asked.size === 0) idle.resolve();
  }
  /** The agent no longer wants to know. */
  function withdraw(lane: Lane, params: unknown, session: JsonObject): void {
    const { requestId } = isObject(params) ? params : {};
    for (const [ours, question] of questions) {
      if (question.lane !== lane || question.id !== requestId) continue;
      questions.delete(ours);
      const named = { requestId: ours };
      output.send({ jsonrpc: '2.0', method: '$/cancel_request', ...session, params: named });
      // Not left to a client that may never answer.
      const error = { code: CODE.cancelled, message: 'the question was withdrawn' };
      lane.give({ jsonrpc: '2.0', id: question.id, error });
    }
  }
  /** The request a notification belongs to, when its agent session has just one in hand. */
  function soleRequestOf(lane: Lane, agentSession: string | undefined): unknown {
    if (agentSession === undefined) return undefined;
    const own = [...asked.values()].filter(
      (one) => one.lane === lane && one.agentSession === agentSession,
    );
    return own.length === 1 ? own[0]?.id : undefined;
  }
  function refuseQuestions(): void {
    for (const [ours, { lane, id }] of questions) {
      questions.delete(ours);
      const error = { code: CODE.unavailable, message: 'the client has gone' };
      lane.give({ jsonrpc: '2.0', id, error });
    }
  }

  function takeRequest(message: JsonObject, method: string): void {
    const { id, params } = message;
    const session = typeof message.sessionId === 'string' ? message.sessionId : null;
    const lane = asked.size < ASKED_MAX ? laneOf(session) : null;
    if (lane === null) {
      const text = 'this worker has all the work it takes; wait for answers, or add instances';
      const error = { code: CODE.exhausted, message: text };
      const top = session === null ? {} : { sessionId: session };
      if (id !== undefined) output.send({ jsonrpc: '2.0', id, ...top, error });
      return;
    }
    if (id === undefined) {
      give(lane, { jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
      return;
    }
    if (method === 'initialize' && session === null && isObject(params)) greeting = params;
    give(lane, ask(lane, { id, method, params }));
  }
  function cancel(wanted: unknown): void {
    for (const [ours, { lane, id }] of asked) {
      if (id === undefined || id !== wanted) continue;
      give(lane, { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: ours } });
    }
  }

  return {
    take(message) {
      const { id, method } = message;
      if (typeof method === 'string') {
        const cancelled = id === undefined ? cancelledId(message) : null;
        if (cancelled === null) takeRequest(message, method);
        else cancel(cancelled.id);
        return;
      }
      const question = typeof id === 'string' ? questions.get(id) : undefined;
      if (question === undefined) return note('an answer to nothing was ignored');
      questions.delete(id as string);
      const outcome = 'error' in message ? { error: message.error } : { result: message.result };
      question.lane.give({ jsonrpc: '2.0', id: question.id, ...outcome });
    },
    async finish() {
      isEnding = true;
      refuseQuestions();
      if (asked.size > 0) await idle.promise;
      for (const lane of lanes.values()) lane.connection.close();
      await options.close?.();
    },
  };
}
