/**
 * Threads as the screen knows them: how each stands, the one that is open, and a list to choose from.
 * Pure. What the hub told last holds; a choice stays with its message when the list changes under it.
 */
import type { CallInput, CallOutput } from '../client/index.ts';
import { type Said, saidOf, TALK_MESSAGES_MAX } from './talk.ts';

export type ThreadFilter = NonNullable<CallInput<'threads.list'>['state']>;
export type MarkWord = CallInput<'threads.mark'>['mark'];
export type MarkRow = CallOutput<'threads.get'>['marks'][number];
type ThreadPage = CallOutput<'threads.get'>;
type Paged = ThreadPage['replies'][number];

export interface ThreadStanding {
  readonly replies: number;
  readonly isPinned: boolean;
  readonly isClosed: boolean;
  readonly isResolved: boolean;
}

export interface OpenThread {
  /** The id of its first message. */
  readonly root: string;
  readonly standing: ThreadStanding;
  /** Null when it is not for this reader. */
  readonly first: Said | null;
  /** In the order of the log; of a long thread the newest. */
  readonly replies: readonly Said[];
  /** The newest first. */
  readonly marks: readonly MarkRow[];
}

/** A message to choose, which opens its thread. */
export interface Choice {
  readonly id: string;
  readonly channel: string;
  readonly sender: string;
  readonly sentAt: number;
  /** Its words, those that were looked for told apart. */
  readonly words: readonly { readonly text: string; readonly isFound: boolean }[];
}

/** Messages to choose from. */
export interface ListPanel {
  readonly kind: 'list';
  readonly title: string;
  /** The threads that are listed, as long as they change; null for what was searched. */
  readonly of: { readonly channel: string; readonly only: ThreadFilter | null } | null;
}

export interface ThreadPanel {
  readonly kind: 'thread';
  readonly root: string;
  readonly channel: string;
  /** Where it was chosen. */
  readonly from: ListPanel | null;
}

export interface Threads {
  /** By the id of the first message. */
  readonly standings: ReadonlyMap<string, ThreadStanding>;
  readonly open: OpenThread | null;
  readonly choices: readonly Choice[];
  /** Which of them is chosen. */
  readonly at: number;
}

export type ThreadEvent =
  | { readonly type: 'threads'; readonly standings: ReadonlyMap<string, ThreadStanding> }
  /** A page of the thread that is open, or the first one of another. */
  | { readonly type: 'thread'; readonly page: ThreadPage }
  | { readonly type: 'listed'; readonly choices: readonly Choice[]; readonly isFresh: boolean }
  | { readonly type: 'chosen'; readonly by: number };

export const NO_THREADS: Threads = { standings: new Map(), open: null, choices: [], at: 0 };
const STANDINGS_MAX = 2_000;

export function evolveThreads(threads: Threads, event: ThreadEvent): Threads {
  switch (event.type) {
    case 'threads':
      return withStandings(threads, event.standings);
    case 'thread':
      return withPage(threads, event.page);
    case 'listed': {
      const chosen = event.isFresh ? undefined : threads.choices[threads.at]?.id;
      const at = event.choices.findIndex(({ id }) => id === chosen);
      return { ...threads, choices: event.choices, at: Math.max(0, at) };
    }
    case 'chosen': {
      const last = Math.max(0, threads.choices.length - 1);
      return { ...threads, at: Math.min(last, Math.max(0, threads.at + event.by)) };
    }
  }
}

export function standingOf(
  row: Pick<ThreadPage['thread'], 'reply_count' | 'pinned' | 'state' | 'resolved'>,
): ThreadStanding {
  return {
    replies: row.reply_count,
    isPinned: row.pinned,
    isClosed: row.state === 'closed',
    isResolved: row.resolved,
  };
}

/** The same value when nothing changed, so that nothing is laid out again; the oldest give way. */
function withStandings(threads: Threads, told: ReadonlyMap<string, ThreadStanding>): Threads {
  const news = [...told].filter(([id, one]) => !isSame(threads.standings.get(id), one));
  if (news.length === 0) return threads;
  const all = new Map(threads.standings);
  for (const [id, one] of news) all.set(id, one);
  for (const oldest of all.keys()) {
    if (all.size <= STANDINGS_MAX) break;
    all.delete(oldest);
  }
  return { ...threads, standings: all };
}

function isSame(one: ThreadStanding | undefined, other: ThreadStanding): boolean {
  return (
    one?.replies === other.replies &&
    one.isPinned === other.isPinned &&
    one.isClosed === other.isClosed &&
    one.isResolved === other.isResolved
  );
}

function withPage(threads: Threads, { thread, root, replies, marks }: ThreadPage): Threads {
  const { thread_id: id } = thread;
  const known = threads.open?.root === id ? threads.open.replies : [];
  const last = known.at(-1)?.seq ?? 0;
  const fresh = replies.map(heard).filter(({ seq }) => seq > last);
  const standing = standingOf(thread);
  const open = {
    ...{ root: id, standing, marks, first: root === null ? null : heard(root) },
    replies: fresh.length === 0 ? known : [...known, ...fresh].slice(-TALK_MESSAGES_MAX),
  };
  return withStandings({ ...threads, open }, new Map([[id, standing]]));
}

/** What is too long for a page is left out of it, and said to be. */
function heard(message: Paged): Said {
  const said = saidOf(message);
  if (message.cut !== true) return said;
  return { ...said, text: `(long: synod call messages.get '{"message_id":"${said.id}"}')` };
}
