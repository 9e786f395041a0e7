/**
 * The sessions a proxy holds with ACP agents behind a bus. Each has a routing session of its own, so
 * its updates find it and it keeps its worker. One prompt at a time; what an agent said before it
 * failed is kept with the error. Every number here is bounded, and sessions end by themselves.
 */
import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, objectAt, textAt } from '../process/json-object.ts';
import { ErrorCode, StdioBusError } from '../sdk/errors.ts';
import type { RequestHandler } from '../sdk/incoming.ts';
import type { SocketOptions } from '../sdk/options.ts';
import type { RequestOptions } from '../sdk/request-options.ts';
import { StdioBus } from '../sdk/stdio-bus.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';

export const PROXY_LIMITS = {
  concurrentMax: 50,
  promptBytesMax: 1_048_576,
  metadataBytesMax: 65_536,
  sessionsMax: 100,
  ttlMs: 3_600_000,
  idleMs: 600_000,
  answerCharsMax: 8_388_608,
} as const;

const SETUP_MS = 60_000;
const CLOSE_MS = 5_000;
const SWEEP_MS = 30_000;

export interface ProxySession {
  readonly id: string;
  readonly agentId: string | null;
  readonly agentSession: string;
  readonly agent: JsonObject;
  readonly metadata: JsonObject;
  readonly createdAt: number;
  usedAt: number;
  prompts: number;
  /** The turn that runs, and what the agent has said in it. */
  turn: { said: string } | null;
}

export interface PromptAnswer {
  readonly text: string;
  readonly stopReason: string;
}

/** The agent failed after it had spoken: an error, with what it said. */
export class BrokenAnswerError extends Error {
  override readonly name = 'BrokenAnswerError';
  readonly text: string;
  constructor(text: string, options: { readonly cause: unknown }) {
    super(messageOfError(options.cause), options);
    this.text = text;
  }
}

export interface PromptOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  onText?(): void;
}

export interface ProxySessions {
  /** Whether the bus is reached now. */
  readonly isConnected: boolean;
  readonly size: number;
  create(agentId: string | null, cwd: string, metadata: JsonObject): Promise<ProxySession>;
  find(id: string): ProxySession;
  list(): readonly ProxySession[];
  prompt(session: ProxySession, text: string, options: PromptOptions): Promise<PromptAnswer>;
  cancel(session: ProxySession): void;
  close(session: ProxySession): Promise<void>;
  /** What the agent says of itself, without a session. */
  describe(agentId: string | null): Promise<JsonObject>;
  end(): Promise<void>;
}

export interface ProxyBusOptions {
  /** Where the bus is. */
  readonly socket: Pick<SocketOptions, 'unixPath' | 'tcpHost' | 'tcpPort'>;
  /** Shown to a bus that wants one. */
  readonly token: string | null;
  readonly pool: string | null;
  note(text: string): void;
  /** A request of an agent; what it returns goes back as the result. */
  readonly onRequest: RequestHandler;
}

export function createProxySessions(options: ProxyBusOptions): ProxySessions {
  const { pool, token } = options;
  const sessions = new Map<string, ProxySession>();
  let starting = 0;
  let bus: StdioBus | null = null;
  let opening: Promise<StdioBus> | null = null;
  const sweep = setInterval(() => expire(), SWEEP_MS).unref();

  /** The bus, joined at the first request and again after the connection broke. */
  function connected(): Promise<StdioBus> {
    if (bus?.isRunning()) return Promise.resolve(bus);
    opening ??= join().finally(() => {
      opening = null;
    });
    return opening;
  }
  async function join(): Promise<StdioBus> {
    const fresh = new StdioBus({
      backend: 'socket',
      socket: {
        ...options.socket,
        // Only who has a token says hello: what listens there may be a bare worker.
        ...(token === null ? { dialect: 'stdio_bus' } : { token }),
        reconnect: false,
      },
      onLog: (_, text) => options.note(`the bus: ${text}`),
    });
    fresh.onRequest(options.onRequest);
    await fresh.start();
    bus = fresh;
    return fresh;
  }
  async function request(
    method: string,
    params: JsonObject,
    asked: RequestOptions,
  ): Promise<JsonObject> {
    try {
      const result = await (await connected()).request(method, params, asked);
      return isObject(result) ? result : { value: result };
    } catch (error) {
      throw toProgramError(error);
    }
  }

  /** Gives every piece of the answer; ends with why the agent stopped. */
  async function streamPrompt(
    { id, agentId, agentSession }: ProxySession,
    text: string,
    asked: RequestOptions,
    onPiece: (piece: string) => void,
  ): Promise<string> {
    let stopReason: string | undefined;
    try {
      const params = { sessionId: agentSession, prompt: [{ type: 'text', text }] };
      const route = { ...routeOf(id, agentId), ...asked };
      for await (const event of (await connected()).stream('session/prompt', params, route)) {
        if (event.type === 'chunk') onPiece(event.text);
        else stopReason = textAt(event.result, 'stopReason');
      }
      return stopReason ?? 'end_turn';
    } catch (error) {
      throw toProgramError(error);
    }
  }

  const routeOf = (id: string, agentId: string | null): RequestOptions => ({
    sessionId: id,
    ...(pool !== null && { pool }),
    ...(agentId !== null && { agentId }),
  });
  function expire(): void {
    const now = Date.now();
    for (const session of sessions.values()) {
      const isOld = now - session.createdAt > PROXY_LIMITS.ttlMs;
      const isIdle = session.turn === null && now - session.usedAt > PROXY_LIMITS.idleMs;
      if (isOld || isIdle) void close(session);
    }
  }
  function initialize(id: string, agentId: string | null): Promise<JsonObject> {
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
    const params = { protocolVersion: 1, clientCapabilities };
    return request('initialize', params, { ...routeOf(id, agentId), timeoutMs: SETUP_MS });
  }
  async function close(session: ProxySession): Promise<void> {
    sessions.delete(session.id);
    if (session.turn !== null) cancel(session);
    const { sessionCapabilities } = objectAt(session.agent, 'agentCapabilities');
    if (!isObject(sessionCapabilities) || sessionCapabilities.close == null) return;
    const asked = { ...routeOf(session.id, session.agentId), timeoutMs: CLOSE_MS };
    // It is closed here whatever the agent says.
    await request('session/close', { sessionId: session.agentSession }, asked).catch(() => {});
  }
  function cancel({ id, agentId, agentSession }: ProxySession): void {
    if (!bus?.isRunning()) return;
    bus.notify('session/cancel', { sessionId: agentSession }, routeOf(id, agentId));
  }

  return {
    get isConnected() {
      return bus?.isRunning() ?? false;
    },
    get size() {
      return sessions.size;
    },
    async create(agentId, cwd, metadata) {
      expire();
      if (sessions.size + starting >= PROXY_LIMITS.sessionsMax) {
        const text = `${PROXY_LIMITS.sessionsMax} sessions are open; close one with sessions_close`;
        throw new ProgramError(CODE.exhausted, text, { retryable: true });
      }
      starting += 1;
      try {
        const id = `mcp-${randomUUID()}`;
        const agent = await initialize(id, agentId);
        const asked = { ...routeOf(id, agentId), timeoutMs: SETUP_MS };
        const made = await request('session/new', { cwd, mcpServers: [] }, asked);
        const agentSession = textAt(made, 'sessionId');
        if (agentSession === undefined) {
          throw new ProgramError(CODE.internal, 'session/new was answered without a sessionId');
        }
        const now = Date.now();
        const session: ProxySession = {
          ...{ id, agentId, agentSession, agent, metadata, createdAt: now, usedAt: now },
          ...{ prompts: 0, turn: null },
        };
        sessions.set(id, session);
        return session;
      } finally {
        starting -= 1;
      }
    },
    find(id) {
      expire();
      const session = sessions.get(id);
      if (session !== undefined) return session;
      throw new ProgramError(
        CODE.invalidParams,
        'there is no such session, or it has expired; make one with sessions_create',
      );
    },
    list: () => [...sessions.values()],
    async prompt(session, text, { timeoutMs, signal, onText }) {
      if (session.turn !== null) {
        const busy = 'a prompt runs in this session; wait for it, or use sessions_cancel';
        throw new ProgramError(CODE.invalidRequest, busy);
      }
      const turn = { said: '' };
      session.turn = turn;
      session.prompts += 1;
      try {
        const stopReason = await streamPrompt(session, text, { timeoutMs, signal }, (piece) => {
          if (turn.said.length + piece.length > PROXY_LIMITS.answerCharsMax) return;
          turn.said += piece;
          onText?.();
        });
        return { text: turn.said, stopReason };
      } catch (error) {
        if (turn.said === '') throw error;
        throw new BrokenAnswerError(turn.said, { cause: error });
      } finally {
        session.turn = null;
        session.usedAt = Date.now();
      }
    },
    cancel,
    close,
    describe: (agentId) => initialize(`mcp-${randomUUID()}`, agentId),
    async end() {
      clearInterval(sweep);
      for (const session of sessions.values()) if (session.turn !== null) cancel(session);
      await bus?.stop(0);
    },
  };
}

/** The numbers of the bus and of the programs are the same; a cancel of our own has ACP's. */
function toProgramError(error: unknown): unknown {
  if (!(error instanceof StdioBusError)) return error;
  const { rpcCode, code, message, details, isRetryable, mayHaveRun } = error;
  const own = code === ErrorCode.CANCELLED ? CODE.cancelled : code;
  const detail = rpcCode === null ? { retryable: isRetryable, mayHaveRun } : details;
  return new ProgramError(rpcCode ?? own, message, detail, { cause: error });
}
