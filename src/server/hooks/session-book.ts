/**
 * Which agent a vendor's session is. One session, one name: through resume, compaction and a
 * restart of the hub, because the book is kept on disk [SB1]. A name somebody chose wins [SB2]; else
 * the vendor's own name, with a number when a live session has it already [SB3]. Where a vendor
 * does not tell its MCP server the session, the process both were started by does [SB4].
 */
import { isAgentName } from '../../core/law/principal.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { processMark } from './process-mark.ts';
import { type BookedSession, loadSessions, type SessionStore } from './session-file.ts';

export interface SessionFacts {
  readonly space: string;
  readonly vendor: Vendor;
  /** Null where only the process is known. */
  readonly session: string | null;
  /** The process of the harness. */
  readonly parent: number | null;
  /** What somebody chose to call it. */
  readonly name: string | null;
}

/** What is known of an idle session, so that it can be woken after a restart of the hub, too. */
export type Rest = Pick<BookedSession, 'idle' | 'claudeSocket' | 'codexHome'>;

export interface SessionBook {
  /** The session of these facts, made when it is new. */
  join(facts: SessionFacts): BookedSession;
  /** It ended; it keeps its name for when it is resumed, unless another takes it meanwhile. */
  end(session: BookedSession): void;
  /** Notes that it rests, or works. */
  keep(session: BookedSession, rest: Rest): void;
  isLive(session: BookedSession): boolean;
  list(): readonly BookedSession[];
  /** Settles when everything is on disk. */
  close(): Promise<void>;
}

export interface SessionBookOptions {
  readonly path: string;
  readonly now?: () => number;
  readonly markOf?: (pid: number) => string | null;
  onTrouble(what: string, cause: unknown): void;
}

export const SESSIONS_MAX = 2_000;
/** Without a process to look at, a session that was silent for so long is taken for gone. */
const SILENT_MS = 30 * 60_000;
/** Codex keeps one process for all its threads, so that it lives says little about one of them. */
const SHARED_SILENT_MS = 24 * 3_600_000;
/** How often it is noted on disk that a session is still there. */
const SEEN_EVERY_MS = 60_000;

export async function openSessionBook(options: SessionBookOptions): Promise<SessionBook> {
  const { now = Date.now, markOf = processMark } = options;
  const store: SessionStore = await loadSessions(options.path, options.onTrouble);
  const sessions = new Set<BookedSession>(store.loaded.slice(-SESSIONS_MAX));
  const byId = new Map<string, BookedSession>();
  for (const one of sessions) if (one.session !== null) byId.set(keyOf(one, one.session), one);

  function isLive(one: BookedSession): boolean {
    if (one.endedAt !== null) return false;
    const silentMs = now() - one.seenAt;
    if (one.parent === null) return silentMs < SILENT_MS;
    if (one.vendor === 'codex' && silentMs >= SHARED_SILENT_MS) return false;
    return markOf(one.parent) === one.parentMark;
  }

  /** The newest that this process is known for. */
  function atParent({ space, vendor, parent }: SessionFacts, mark: string | null) {
    if (parent === null || mark === null) return null;
    let found: BookedSession | null = null;
    for (const one of sessions) {
      if (one.parent !== parent || one.parentMark !== mark || one.space !== space) continue;
      if (one.vendor === vendor && one.seenAt >= (found?.seenAt ?? 0)) found = one;
    }
    return found;
  }

  function find(facts: SessionFacts, mark: string | null): BookedSession | null {
    const { session, vendor, name } = facts;
    const known = session === null ? null : (byId.get(keyOf(facts, session)) ?? null);
    const found = atParent(facts, mark);
    // Who says another name and another session is another, whatever process it came from.
    const isOther = name !== null && name !== found?.agent && found?.session != null;
    const near = isOther && session !== null && found.endedAt === null ? null : found;
    switch (vendor) {
      // One process, one MCP server, many sessions: they are one agent.
      case 'opencode':
        return near ?? known;
      // Threads share a process; only what nobody has said the thread of may be this one.
      case 'codex':
        return known ?? (session === null || near?.session === null ? near : null);
      // One process, one session at a time: a new id there is the same session cleared or forked.
      case 'claude':
      case 'gemini':
        return known ?? near;
    }
  }

  function freeName(space: string, vendor: Vendor, but: BookedSession | null): string {
    const taken = new Set<string>();
    for (const one of sessions) {
      if (one !== but && one.space === space && isLive(one)) taken.add(one.agent);
    }
    if (!taken.has(vendor)) return vendor;
    for (let number = 2; ; number++) {
      if (!taken.has(`${vendor}-${number}`)) return `${vendor}-${number}`;
    }
  }

  function isTaken(one: BookedSession): boolean {
    for (const other of sessions) {
      if (other === one || other.agent !== one.agent || other.space !== one.space) continue;
      if (isLive(other)) return true;
    }
    return false;
  }

  function makeRoom(): void {
    if (sessions.size < SESSIONS_MAX) return;
    const oldest = [...sessions].sort((a, b) => rank(a) - rank(b) || a.seenAt - b.seenAt)[0];
    if (oldest !== undefined) forget(oldest);
  }

  function rank(one: BookedSession): number {
    return isLive(one) ? 1 : 0;
  }

  function forget(one: BookedSession): void {
    sessions.delete(one);
    for (const [key, other] of byId) if (other === one) byId.delete(key);
  }

  function create(facts: SessionFacts, mark: string | null): BookedSession {
    makeRoom();
    const { space, vendor, session, parent } = facts;
    const agent = facts.name ?? freeName(space, vendor, null);
    const one: BookedSession = {
      ...{ space, vendor, session, agent, isNamed: facts.name !== null },
      ...{ parent: mark === null ? null : parent, parentMark: mark },
      ...{ seenAt: now(), endedAt: null, idle: null, claudeSocket: null, codexHome: null },
    };
    sessions.add(one);
    if (session !== null) byId.set(keyOf(one, session), one);
    return one;
  }

  /** True when something of it is new and must be on disk. */
  function refresh(one: BookedSession, facts: SessionFacts, mark: string | null): boolean {
    const before = `${one.agent} ${one.session} ${one.parentMark} ${one.endedAt}`;
    const { session, name, parent } = facts;
    // Whoever comes back finds its name, unless a session that is there has it by now [SB5].
    const isBack = one.endedAt !== null || !isLive(one);
    if (mark !== null) {
      one.parent = parent;
      one.parentMark = mark;
    }
    one.endedAt = null;
    if (session !== null && one.session !== session) {
      byId.set(keyOf(one, session), one);
      one.session = session;
    }
    if (name !== null) {
      one.agent = name;
      one.isNamed = true;
    } else if (isBack && !one.isNamed && isTaken(one)) {
      one.agent = freeName(one.space, one.vendor, one);
    }
    const isStale = now() - one.seenAt > SEEN_EVERY_MS;
    one.seenAt = now();
    return isStale || before !== `${one.agent} ${one.session} ${one.parentMark} ${one.endedAt}`;
  }

  const save = (): void => store.save(() => [...sessions]);

  return {
    join(said) {
      const facts = {
        ...said,
        name: said.name !== null && isAgentName(said.name) ? said.name : null,
      };
      const mark = facts.parent === null ? null : markOf(facts.parent);
      const known = find(facts, mark);
      if (known === null) {
        const made = create(facts, mark);
        save();
        return made;
      }
      if (refresh(known, facts, mark)) save();
      return known;
    },
    end(session) {
      if (session.endedAt !== null) return;
      session.endedAt = now();
      save();
    },
    keep(session, rest) {
      if (session.idle === null && rest.idle === null) return;
      Object.assign(session, rest);
      save();
    },
    isLive,
    list: () => [...sessions],
    close: () => store.close(),
  };
}

function keyOf({ space, vendor }: Pick<SessionFacts, 'space' | 'vendor'>, session: string): string {
  return `${space} ${vendor} ${session}`;
}
