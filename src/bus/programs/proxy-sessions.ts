/**
 * The sessions a proxy holds with ACP agents behind a bus. Each has a routing session of its own, so
 * its updates find it and it keeps its worker. One prompt at a time; what an agent said before it
 * failed is kept with the error. Every number here is bounded, and sessions end by themselves.
 */
import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, objectAt, textAt } from '../process/json-object.ts';
import type { BusLine } from './bus-line.ts';
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
  /** The turn that runs. */
  turn: { readonly said: string[]; chars: number; onText?(text: string): void } | null;
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
  onText?(text: string): void;
}

export interface ProxySessions {
  readonly size: number;
  create(agentId: string | null, cwd: string, metadata: JsonObject): Promise<ProxySession>;
  find(id: string): ProxySession;
  list(): readonly ProxySession[];
  prompt(session: ProxySession, text: string, options: PromptOptions): Promise<PromptAnswer>;
  cancel(session: ProxySession): void;
  close(session: ProxySession): Promise<void>;
  /** A notification that came from the bus. */
  heard(message: JsonObject): void;
  /** What the agent says of itself, without a session. */
  describe(agentId: string | null): Promise<JsonObject>;
  end(): void;
}

export function createProxySessions(line: BusLine, pool: string | null): ProxySessions {
  const sessions = new Map<string, ProxySession>();
  let starting = 0;
  const sweep = setInterval(() => expire(), SWEEP_MS).unref();

  const around = (id: string, agentId: string | null): JsonObject => ({
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
    return line.request({
      method: 'initialize',
      params: { protocolVersion: 1, clientCapabilities },
      around: around(id, agentId),
      timeoutMs: SETUP_MS,
    });
  }
  async function close(session: ProxySession): Promise<void> {
    sessions.delete(session.id);
    if (session.turn !== null) cancel(session);
    const { sessionCapabilities } = objectAt(session.agent, 'agentCapabilities');
    if (!isObject(sessionCapabilities) || sessionCapabilities.close == null) return;
    const params = { sessionId: session.agentSession };
    const request = { method: 'session/close', params, timeoutMs: CLOSE_MS };
    // It is closed here whatever the agent says.
    await line.request({ ...request, around: aroundOf(session) }).catch(() => {});
  }
  function cancel(session: ProxySession): void {
    line.notify('session/cancel', { sessionId: session.agentSession }, aroundOf(session));
  }
  const aroundOf = (session: ProxySession): JsonObject => around(session.id, session.agentId);

  return {
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
        const made = await line.request({
          method: 'session/new',
          params: { cwd, mcpServers: [] },
          around: around(id, agentId),
          timeoutMs: SETUP_MS,
        });
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
      const turn = { said: [] as string[], chars: 0, ...(onText !== undefined && { onText }) };
      session.turn = turn;
      session.prompts += 1;
      try {
        const result = await line.request({
          method: 'session/prompt',
          params: { sessionId: session.agentSession, prompt: [{ type: 'text', text }] },
          around: aroundOf(session),
          ...{ timeoutMs, signal },
        });
        const stopReason = textAt(result, 'stopReason') ?? 'end_turn';
        return { text: turn.said.join(''), stopReason };
      } catch (error) {
        if (turn.chars === 0) throw error;
        throw new BrokenAnswerError(turn.said.join(''), { cause: error });
      } finally {
        session.turn = null;
        session.usedAt = Date.now();
      }
    },
    cancel,
    close,
    heard(message) {
      const turn = sessions.get(textAt(message, 'sessionId') ?? '')?.turn;
      const update = objectAt(message.params, 'update');
      if (turn == null || update.sessionUpdate !== 'agent_message_chunk') return;
      const text = textAt(update.content, 'text') ?? '';
      if (turn.chars + text.length > PROXY_LIMITS.answerCharsMax) return;
      turn.chars += text.length;
      turn.said.push(text);
      turn.onText?.(text);
    },
    describe: (agentId) => initialize(`mcp-${randomUUID()}`, agentId),
    end() {
      clearInterval(sweep);
      for (const session of sessions.values()) if (session.turn !== null) cancel(session);
      line.close();
    },
  };
}
