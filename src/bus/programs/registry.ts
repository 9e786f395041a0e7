/**
 * The launcher for agents of an ACP registry: reads the top-level `agentId`, starts that agent at
 * its first message, and passes messages both ways with ids of its own.
 *
 * It makes no decision. What an agent asks, above all a permission, goes to the client
 * whose session it is; no answer in time, no client or an error in its place is a refusal. Every
 * request is answered: also when its agent dies.
 */

import { cancelledId, isObject, type JsonObject, textAt } from '../process/json-object.ts';
import type { Down } from '../process/worker.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { CODE, messageOfError } from './program-error.ts';
import { type AgentProcess, startAgent } from './registry-agent.ts';
import { authError, introduction, LISTED_MAX } from './registry-answers.ts';
import { type Launch, launchOf, platformTarget, type Registry } from './registry-file.ts';
import type { Keys } from './registry-keys.ts';
import { type LineIo, type LineOutput, type LineProgram, serveLines } from './stdio-lines.ts';

export interface RegistryOptions {
  readonly registry: Registry;
  readonly keys: Keys;
  readonly version: string;
  /** Names of variables every agent may have of ours. */
  readonly allowEnv: readonly string[];
  readonly binariesDir: string | null;
  /** How long a client may think about a question of an agent. */
  readonly askMs: number;
  readonly shutdownMs: number;
  /** What goes beside the messages to an agent that somebody logged in for. */
  readonly headersFor: (agentId: string) => JsonObject | null;
  /** Has a person log in for an agent that wants it; null where nobody is to be asked. */
  readonly logIn: (agentId: string) => Promise<void> | null;
}

const AGENTS_RUNNING_MAX = 64;
const ASKED_MAX = 10_000;
/** For answers still owed when the input ends. */
const DRAIN_MS = 30_000;

const REFUSED = { outcome: { outcome: 'cancelled' } };

interface Running {
  readonly id: string;
  readonly process: AgentProcess;
  readonly launch: Launch;
  /** From its answer to `initialize`. */
  authMethods: readonly unknown[];
}

interface Asked {
  readonly agent: Running;
  readonly id: unknown;
  readonly routing: string | null;
  readonly method: string;
  readonly agentSession: string | undefined;
  readonly params: unknown;
  /** Which message to the agent it was. */
  number: number;
  /** It went with the token of a login: another login would change nothing. */
  hasToken: boolean;
  /** The agent wanted a login, and a person is asked for it. */
  isHeld: boolean;
}

interface Question {
  readonly agent: Running;
  readonly id: unknown;
  readonly method: string;
  readonly timer: NodeJS.Timeout;
}

export function runRegistry(options: RegistryOptions, io: LineIo): Promise<void> {
  return serveLines((output) => createLauncher(options, output, io.note), io);
}

export function createLauncher(
  options: RegistryOptions,
  output: LineOutput,
  note: (text: string) => void,
): LineProgram {
  const { registry, keys } = options;
  const agents = new Map<string, Running>();
  const asked = new Map<string, Asked>();
  const questions = new Map<string, Question>();
  const sessions = createAgentSessions();
  const idle = Promise.withResolvers<void>();
  let isEnding = false;
  let count = 0;

  function answer(id: unknown, routing: string | null, outcome: JsonObject): void {
    const session = routing === null ? {} : { sessionId: routing };
    output.send({ jsonrpc: '2.0', id, ...session, ...outcome });
  }

  // From the client.

  function takeRequest(message: JsonObject, method: string): void {
    const { id, params } = message;
    const routing = textAt(message, 'sessionId') ?? null;
    const refuse = (code: number, text: string, data: JsonObject): void => {
      if (id !== undefined) answer(id, routing, { error: { code, message: text, data } });
      else note(`a notification was dropped: ${text}`);
    };
    const agentId = textAt(message, 'agentId') ?? agentOfNotification(message);
    if (agentId === undefined) {
      if (method === 'initialize' && id !== undefined) {
        return answer(id, routing, { result: introduction(registry, options.version) });
      }
      const remedy = 'put the id of an agent of the registry beside "method"';
      return refuse(CODE.invalidRequest, 'agentId is missing at the top level', { remedy });
    }
    if (asked.size >= ASKED_MAX) {
      const text = `${ASKED_MAX} requests wait for agents; wait for answers`;
      return refuse(CODE.exhausted, text, { agentId, retryable: true });
    }
    const agent = agents.get(agentId) ?? start(agentId, refuse);
    if (agent === null) return;
    const agentSession = textAt(params, 'sessionId');
    // A request may move its session to another route, as a client does that comes back.
    const isMoving =
      routing !== null || sessions.routingOf(agentId, agentSession ?? '') === undefined;
    if (id !== undefined && agentSession !== undefined && isMoving) {
      flush(agent, agentSession, routing);
    }
    const given = method === 'session/new' ? withServers(agentId, params) : params;
    if (id === undefined) {
      agent.process.send(messageFor(agentId, method, given));
      return;
    }
    count += 1;
    const request: Asked = {
      ...{ agent, id, routing, method, agentSession, params: given },
      ...{ number: 0, hasToken: false, isHeld: false },
    };
    asked.set(`r${count}`, request);
    give(`r${count}`, request);
  }
  function messageFor(agentId: string, method: string, params: unknown): JsonObject {
    const headers = options.headersFor(agentId);
    return {
      ...{ jsonrpc: '2.0', method, ...(params !== undefined && { params }) },
      ...(headers !== null && { headers }),
    };
  }
  function give(ours: string, request: Asked): void {
    const { agent, method, params } = request;
    const message = messageFor(agent.id, method, params);
    request.hasToken = 'headers' in message;
    request.number = agent.process.send({ ...message, id: ours });
  }
  /** Later notifications of a session need not repeat whose it is. */
  function agentOfNotification({ id, params }: JsonObject): string | undefined {
    const session = textAt(params, 'sessionId');
    return id !== undefined || session === undefined ? undefined : sessions.agentOf(session);
  }
  function start(
    agentId: string,
    refuse: (code: number, text: string, data: JsonObject) => void,
  ): Running | null {
    const entry = registry.get(agentId);
    if (entry === undefined) {
      const known = [...registry.keys()].slice(0, LISTED_MAX);
      refuse(-32_001, `the registry has no agent ${JSON.stringify(agentId)}`, { agentId, known });
      return null;
    }
    const launch = launchOf(entry, options.binariesDir);
    if (launch === null) {
      const platforms = [...entry.binary.keys()];
      const text = `${agentId} is not made for ${platformTarget()}`;
      refuse(-32_002, text, { agentId, platforms });
      return null;
    }
    if (agents.size >= AGENTS_RUNNING_MAX) {
      const text = `${AGENTS_RUNNING_MAX} agents run already; ${agentId} is not started`;
      refuse(CODE.exhausted, text, { agentId, retryable: true });
      return null;
    }
    const environment = { allow: options.allowEnv, keys: keys.get(agentId)?.env ?? {} };
    const agent: Running = {
      id: agentId,
      launch,
      authMethods: [],
      process: startAgent(agentId, launch, environment, {
        onMessage: (message) => takeFromAgent(agent, message),
        onDown(down, hasStarted) {
          agents.delete(agentId);
          sessions.forgetAgent(agentId);
          loseAgent(agent, down, hasStarted);
        },
        note,
      }),
    };
    agents.set(agentId, agent);
    return agent;
  }
  function loseAgent(agent: Running, down: Down, hasStarted: boolean): void {
    for (const [ours, question] of questions) {
      if (question.agent === agent) forget(ours, question);
    }
    const { reason, stderrTail } = down;
    for (const [ours, request] of asked) {
      if (request.agent !== agent) continue;
      asked.delete(ours);
      const mayHaveRun = request.number <= down.handedOver;
      const data: JsonObject = { agentId: agent.id, reason, mayHaveRun, stderrTail };
      const error = hasStarted
        ? { code: CODE.transport, message: `${agent.id} ${reason}`, data }
        : {
            code: -32_003,
            message: `${agent.id} did not start: ${reason}`,
            data: { ...data, remedy: agent.launch.remedy },
          };
      answer(request.id, request.routing, { error });
    }
    settle();
  }
  /** The registry's servers, unless the client brings one of the same name. */
  function withServers(agentId: string, params: unknown): unknown {
    const own = registry.get(agentId)?.mcpServers ?? [];
    const given = isObject(params) && Array.isArray(params.mcpServers) ? params.mcpServers : [];
    const taken = new Set(given.map((server) => textAt(server, 'name')));
    const more = own.filter((server) => !taken.has(textAt(server, 'name')));
    return isObject(params) ? { ...params, mcpServers: [...given, ...more] } : params;
  }
  function cancel(wanted: unknown): void {
    for (const [ours, request] of asked) {
      const { agent, id, method, agentSession } = request;
      if (id !== wanted) continue;
      if (request.isHeld) {
        drop(ours, request, { code: CODE.cancelled, message: 'it was taken back' });
        continue;
      }
      const params = { requestId: ours };
      agent.process.send({ jsonrpc: '2.0', method: '$/cancel_request', params });
      if (method !== 'session/prompt' || agentSession === undefined) continue;
      // Most agents know no cancel of a request, and end a turn by its session.
      const turn = { sessionId: agentSession };
      agent.process.send({ jsonrpc: '2.0', method: 'session/cancel', params: turn });
    }
  }
  function takeAnswer(message: JsonObject): void {
    const ours = typeof message.id === 'string' ? message.id : '';
    const question = questions.get(ours);
    if (question === undefined) return note('an answer to nothing was ignored');
    forget(ours, question);
    const outcome = 'error' in message ? { error: message.error } : { result: message.result };
    reply(question, outcome);
  }

  // From an agent.

  function takeFromAgent(agent: Running, message: JsonObject): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') return takeAgentAnswer(agent, message);
    const session = textAt(params, 'sessionId');
    if (id !== undefined) return ask(agent, { id, method, params, session });
    const routing = session === undefined ? undefined : sessions.routingOf(agent.id, session);
    if (routing !== undefined) return tell(agent, message, routing);
    if (session !== undefined) return sessions.hold(agent.id, session, message);
    note(`${agent.id}: a notification without a session was dropped: ${method.slice(0, 80)}`);
  }
  function tell(agent: Running, message: JsonObject, routing: string | null): void {
    const { method, params } = message;
    const session = textAt(params, 'sessionId');
    const own = [...asked.values()].filter(
      (one) => one.agent === agent && one.agentSession === session,
    );
    const ext = own.length === 1 ? { _ext: { requestId: own[0]?.id } } : {};
    const top = routing === null ? {} : { sessionId: routing };
    output.send({ jsonrpc: '2.0', method, ...top, params, ...ext });
  }
  function flush(agent: Running, session: string, routing: string | null): void {
    for (const held of sessions.learn(agent.id, session, routing)) tell(agent, held, routing);
  }
  function takeAgentAnswer(agent: Running, message: JsonObject): void {
    const ours = typeof message.id === 'string' ? message.id : '';
    const request = asked.get(ours);
    if (request === undefined || request.agent !== agent) {
      return note(`${agent.id}: an answer to nothing was ignored`);
    }
    if (isObject(message.error) && logInFirst(ours, request, message.error)) return;
    asked.delete(ours);
    const { id, routing, method } = request;
    if (isObject(message.error)) {
      answer(id, routing, { error: authError(agent, message.error, null) });
    } else {
      const { result } = message;
      if (method === 'initialize' && isObject(result) && Array.isArray(result.authMethods)) {
        agent.authMethods = result.authMethods;
      }
      answer(id, routing, { result });
      const made = method.startsWith('session/') ? textAt(result, 'sessionId') : undefined;
      if (made !== undefined) flush(agent, made, routing);
    }
    settle();
  }
  /** Where the agent wants a login and a person can be asked, the request waits for that, and goes again once. */
  function logInFirst(ours: string, request: Asked, error: JsonObject): boolean {
    const { agent, hasToken } = request;
    if (error.code !== CODE.authRequired || hasToken || isEnding) return false;
    const shown = options.logIn(agent.id);
    if (shown === null) return false;
    request.isHeld = true;
    shown.then(
      () => {
        if (asked.get(ours) !== request) return;
        request.isHeld = false;
        give(ours, request);
      },
      (why: unknown) => {
        if (asked.get(ours) !== request) return;
        drop(ours, request, authError(agent, error, messageOfError(why)));
      },
    );
    return true;
  }
  function drop(ours: string, { id, routing }: Asked, error: JsonObject): void {
    asked.delete(ours);
    answer(id, routing, { error });
    settle();
  }
  function ask(
    agent: Running,
    question: { id: unknown; method: string; params: unknown; session: string | undefined },
  ): void {
    const { id, method, params, session } = question;
    const routing = session === undefined ? undefined : sessions.routingOf(agent.id, session);
    if (routing === undefined || isEnding) {
      const error = { code: CODE.unavailable, message: 'nobody is there to ask' };
      return reply({ agent, id, method }, { error });
    }
    count += 1;
    const ours = `q${count}`;
    const timer = setTimeout(() => {
      questions.delete(ours);
      note(`${agent.id}: ${method.slice(0, 80)} was not answered in ${options.askMs} ms; refused`);
      reply({ agent, id, method }, { error: { code: CODE.timeout, message: 'not answered' } });
    }, options.askMs);
    questions.set(ours, { agent, id, method, timer });
    const top = routing === null ? {} : { sessionId: routing };
    output.send({ jsonrpc: '2.0', id: ours, method, ...top, params });
  }
  /** An error in place of a permission is a refusal; ACP says that with a result. */
  function reply(to: Pick<Question, 'agent' | 'id' | 'method'>, outcome: JsonObject): void {
    const isRefused = to.method === 'session/request_permission' && 'error' in outcome;
    to.agent.process.send({
      ...{ jsonrpc: '2.0', id: to.id },
      ...(isRefused ? { result: REFUSED } : outcome),
    });
  }
  function forget(ours: string, { timer }: Question): void {
    clearTimeout(timer);
    questions.delete(ours);
  }
  function settle(): void {
    if (isEnding && asked.size === 0) idle.resolve();
  }

  return {
    take(message) {
      const { id, method } = message;
      if (typeof method !== 'string') return takeAnswer(message);
      const cancelled = id === undefined ? cancelledId(message) : null;
      if (cancelled === null) takeRequest(message, method);
      else cancel(cancelled.id);
    },
    async finish() {
      isEnding = true;
      for (const [ours, request] of asked) {
        if (!request.isHeld) continue;
        drop(ours, request, { code: CODE.unavailable, message: 'the launcher ends' });
      }
      for (const [ours, question] of questions) {
        forget(ours, question);
        reply(question, { error: { code: CODE.unavailable, message: 'the client has gone' } });
      }
      const late = setTimeout(() => idle.resolve(), DRAIN_MS);
      settle();
      await idle.promise;
      clearTimeout(late);
      await Promise.all(
        [...agents.values()].map(({ process }) => process.stop(options.shutdownMs)),
      );
    },
  };
}
