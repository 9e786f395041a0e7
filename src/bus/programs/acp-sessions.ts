/**
 * The sessions of an ACP agent: what was said in each, within bounds. They belong to the process,
 * not to a connection, so that a client that comes back can load its session; who does not know the
 * id of a session cannot reach it, and lists show only the lane's own.
 */
import { randomUUID } from 'node:crypto';

const SESSIONS_MAX = 1_000;
const HISTORY_ENTRIES_MAX = 200;
const HISTORY_CHARS_MAX = 400_000;

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface AgentSession {
  readonly id: string;
  readonly cwd: string;
  readonly lane: string | null;
  history: readonly Said[];
  updatedAt: Date;
  /** The turn that runs; ACP allows one at a time. */
  turn: AbortController | null;
}

export interface AgentSessions {
  open(cwd: string, lane: string | null): AgentSession;
  find(id: string): AgentSession | undefined;
  /** Those of the lane, the latest first. */
  list(lane: string | null): readonly AgentSession[];
  remember(session: AgentSession, said: readonly Said[]): void;
  close(id: string): boolean;
  closeAll(): void;
}

export interface SessionsOptions {
  onClose(session: AgentSession): void;
  readonly sessionsMax?: number;
  readonly historyEntriesMax?: number;
}

export function createSessions(options: SessionsOptions): AgentSessions {
  const { sessionsMax = SESSIONS_MAX, historyEntriesMax = HISTORY_ENTRIES_MAX } = options;
  const sessions = new Map<string, AgentSession>();

  function close(id: string): boolean {
    const session = sessions.get(id);
    if (session === undefined) return false;
    sessions.delete(id);
    session.turn?.abort();
    options.onClose(session);
    return true;
  }
  return {
    open(cwd, lane) {
      const idlest = sessions.size < sessionsMax ? undefined : idlestOf(sessions.values());
      if (idlest !== undefined) close(idlest.id);
      const id = randomUUID();
      const session: AgentSession = {
        ...{ id, cwd, lane, history: [], turn: null },
        updatedAt: new Date(),
      };
      sessions.set(id, session);
      return session;
    },
    find: (id) => sessions.get(id),
    list: (lane) =>
      [...sessions.values()]
        .filter((session) => session.lane === lane)
        .sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()),
    remember(session, said) {
      session.history = bounded([...session.history, ...said], historyEntriesMax);
      session.updatedAt = new Date();
    },
    close,
    closeAll() {
      for (const id of [...sessions.keys()]) close(id);
    },
  };
}

function idlestOf(sessions: Iterable<AgentSession>): AgentSession | undefined {
  let idlest: AgentSession | undefined;
  for (const session of sessions) {
    if (session.turn !== null) continue;
    if (idlest === undefined || session.updatedAt < idlest.updatedAt) idlest = session;
  }
  return idlest;
}

/** The latest that fit; a history never begins with an answer whose question was dropped. */
function bounded(history: readonly Said[], entriesMax: number): readonly Said[] {
  let from = history.length;
  let chars = 0;
  while (from > 0 && history.length - from < entriesMax) {
    chars += history[from - 1]?.text.length ?? 0;
    if (chars > HISTORY_CHARS_MAX && from < history.length) break;
    from -= 1;
  }
  while (from < history.length && history[from]?.role === 'assistant') from += 1;
  return from === 0 ? history : history.slice(from);
}
