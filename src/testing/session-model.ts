/**
 * Sessions told a second time, from the entries alone and by value: which items each has, who holds it and
 * which calls are open. It throws where an entry breaks the law: a result without its call, words of a user
 * or a hand-off while a call is open, a cut between the two, something done to one that is over.
 */

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

interface ModelItem {
  readonly item: Entry;
  /** Of the entry that it came with, and which of it. */
  readonly position: number;
  readonly offset: number;
}

export interface ModelSession {
  readonly id: string;
  items: readonly ModelItem[];
  holder: string;
  isOver: boolean;
}

export interface SessionModel {
  readonly counts: Readonly<Record<string, number>>;
  readonly sessions: ReadonlyMap<string, ModelSession>;
  add(event: Entry, position: number): void;
  /** Calls without a result. */
  openOf(session: ModelSession): string[];
}

export function createSessionModel(): SessionModel {
  const sessions = new Map<string, ModelSession>();
  const counts: Record<string, number> = {};

  function openOf({ items }: ModelSession): string[] {
    const open = new Set<string>();
    for (const { item } of items) {
      if (item.kind === 'tool_call') open.add(item.callId);
      if (item.kind === 'tool_result') open.delete(item.callId);
    }
    return [...open];
  }

  /** Every result has its call before it, once, and nobody speaks in between. */
  function check({ id, items }: ModelSession): void {
    const open = new Set<string>();
    for (const [i, { item }] of items.entries()) {
      const { kind, callId } = item;
      if ((kind === 'user' || kind === 'handoff') && open.size > 0) {
        throw new Error(`${id}: item ${i}, a ${kind}, while ${[...open]} is open`);
      }
      if (kind === 'tool_call' && open.has(callId)) throw new Error(`${id}: ${callId} twice`);
      if (kind === 'tool_call') open.add(callId);
      if (kind === 'tool_result' && !open.delete(callId)) {
        throw new Error(`${id}: item ${i}, a result of ${callId} without its call`);
      }
    }
  }

  return {
    counts,
    sessions,
    openOf,
    add(event, position) {
      if (!String(event.type).startsWith('session.')) return;
      counts[event.type] = (counts[event.type] ?? 0) + 1;
      const placed = (event.items ?? []).map((item: Entry, offset: number) => ({
        ...{ item, position, offset },
      }));
      if (event.type === 'session.created' || event.type === 'session.forked') {
        const source = sessions.get(event.from)?.items.slice(0, event.length) ?? [];
        const holder = event.holder ?? event.by;
        const made = { id: event.id, items: [...source, ...placed], holder, isOver: false };
        sessions.set(event.id, made);
        if (event.type === 'session.forked' && openOf(made).length > 0) {
          throw new Error(`entry ${position}: a fork between a call and its result`);
        }
        return check(made);
      }
      const session = sessions.get(event.id);
      if (session === undefined || session.isOver) {
        throw new Error(
          `entry ${position}: ${event.type} of ${event.id}, which is over or was never`,
        );
      }
      const { items } = session;
      switch (event.type) {
        case 'session.rewound':
          session.items = items.slice(0, event.length);
          if (openOf(session).length > 0)
            throw new Error(`entry ${position}: a rewind splits a call`);
          break;
        case 'session.compacted':
          session.items = [...placed, ...items.slice(event.count)];
          break;
        case 'session.handed-off': {
          const kept: number[] | undefined = event.kept;
          const left = kept?.map((place) => {
            const at = { position: Math.floor(place / 512), offset: Math.floor(place / 4) % 128 };
            const found = items.find(
              (one) => one.position === at.position && one.offset === at.offset,
            );
            if (found === undefined) throw new Error(`entry ${position}: kept what is not there`);
            return found;
          });
          session.items = [...(left ?? items), ...placed];
          session.holder = event.to;
          break;
        }
        case 'session.ended':
          session.isOver = true;
          break;
        default:
          session.items = [...items, ...placed];
      }
      check(session);
    },
  };
}
