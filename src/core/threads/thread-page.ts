/**
 * Looking at threads: the replies of one, and which threads there are, the newest root first. A look
 * costs what it finds: it passes over what has no threads, and ends at a number of steps with where to
 * go on [TM10].
 */
import { Heap } from '../law/heap.ts';
import type { Principal } from '../law/principal.ts';
import type { ChannelView, WorldView } from '../law/state.ts';
import { checkPast, checkRead } from '../talk/channel.ts';
import type { ThreadMarks } from './thread-index.ts';

export const THREAD_STATES = ['open', 'closed', 'resolved', 'pinned'] as const;
export type ThreadState = (typeof THREAD_STATES)[number];

/** Places looked at by one call; and on each channel at the least, so that every call gets further. */
const STEPS_MAX = 50_000;
const STEPS_MIN = 64;

const ARE: Readonly<Record<ThreadState, (marks: ThreadMarks) => boolean>> = {
  open: ({ isClosed }) => !isClosed,
  closed: ({ isClosed }) => isClosed,
  resolved: ({ isResolved }) => isResolved,
  pinned: ({ isPinned }) => isPinned,
};

/** From which seq on the channel's past is open to a reader who may read it [RP3]. */
export function openFrom(world: WorldView, by: Principal, channel: ChannelView): number {
  if (checkPast(world, by, channel.name) === null) return 1;
  const member = channel.members.get(by.id);
  return member === undefined ? Number.POSITIVE_INFINITY : member.from + 1;
}

/** What waits for a person or was refused by one is no part of what a thread shows [R6]. */
export function isShown(channel: ChannelView, seq: number, from: number): boolean {
  return seq >= from && !(channel.held?.has(seq) ?? false);
}

export interface ReplySeqs {
  readonly seqs: readonly number[];
  /** The last one looked at; 0 when the thread has ended. */
  readonly next: number;
}

/** Replies of a thread after one of its messages, in the order of the log. */
export function repliesAfter(
  channel: ChannelView,
  after: number,
  { from, limit }: { readonly from: number; readonly limit: number },
): ReplySeqs {
  const seqs: number[] = [];
  let last = after;
  let steps = 0;
  for (;;) {
    const seq = channel.threads?.after(last) ?? 0;
    if (seq === 0) return { seqs, next: 0 };
    if (seqs.length >= limit || steps++ >= STEPS_MAX) return { seqs, next: last };
    last = seq;
    if (isShown(channel, seq, from)) seqs.push(seq);
  }
}

/** How many replies of each root are not shown, for the channel as a whole. */
export function hiddenReplies(channel: ChannelView): ReadonlyMap<number, number> {
  const hidden = new Map<number, number>();
  for (const seq of channel.held?.keys() ?? []) {
    const root = channel.threads?.rootOf(seq) ?? seq;
    if (root !== seq) hidden.set(root, (hidden.get(root) ?? 0) + 1);
  }
  return hidden;
}

export interface ThreadQuery {
  /** Null: every channel the reader may read. */
  readonly channel: string | null;
  readonly state: ThreadState | null;
  /** Below this position. */
  readonly before: number;
  readonly limit: number;
}

export interface ThreadPlace {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
}

export interface ThreadPlaces {
  readonly places: readonly ThreadPlace[];
  /** Go on below this position; null when there are no more. */
  readonly next: number | null;
}

interface Cursor {
  readonly of: ChannelView;
  readonly from: number;
  readonly seq: number;
  readonly position: number;
  heapIndex: number;
}

/** Newest root first, over all channels that are looked at. */
export function threadsPage(world: WorldView, by: Principal, query: ThreadQuery): ThreadPlaces {
  const { before, limit } = query;
  const heap = new Heap<Cursor>((a, b) => a.position > b.position);
  const look: Look = { state: query.state, steps: 0, reached: -1 };
  for (const channel of channelsOf(world, by, query.channel)) {
    const below = channel.positions.lastAtOrBefore(before - 1) + 1;
    enterNext(heap, channel, below, openFrom(world, by, channel), look);
  }
  const places: ThreadPlace[] = [];
  for (let one = heap.first; one !== undefined; one = heap.first) {
    if (places.length >= limit) return { places, next: places.at(-1)?.position ?? before };
    // A channel that was looked through in part may have more below where the look ended.
    if (one.position < look.reached) break;
    heap.delete(one);
    places.push({ channel: one.of.name, seq: one.seq, position: one.position });
    enterNext(heap, one.of, one.seq, one.from, look);
  }
  return { places, next: look.reached < 0 ? null : look.reached };
}

interface Look {
  readonly state: ThreadState | null;
  steps: number;
  /** Down to this position everything was looked at; -1 when there is nothing below. */
  reached: number;
}

function enterNext(
  heap: Heap<Cursor>,
  of: ChannelView,
  below: number,
  from: number,
  look: Look,
): void {
  const { threads, positions } = of;
  if (threads === null) return;
  const isWanted = look.state === null ? () => true : ARE[look.state];
  const found = threads.find(below, {
    isMarked: look.state !== null && look.state !== 'open',
    isWanted: (seq, marks) => isShown(of, seq, from) && isWanted(marks),
    limit: 1,
    stepsMax: Math.max(STEPS_MIN, STEPS_MAX - look.steps),
  });
  look.steps += found.steps;
  const [seq] = found.seqs;
  if (seq !== undefined) heap.put({ of, from, seq, position: positions.at(seq), heapIndex: -1 });
  else if (found.next >= from) look.reached = Math.max(look.reached, positions.at(found.next));
}

function channelsOf(world: WorldView, by: Principal, name: string | null): ChannelView[] {
  const named = name === null ? world.channels.values() : [world.channels.get(name)];
  return [...named].filter(
    (channel) =>
      channel != null && channel.threads !== null && checkRead(world, by, channel.name) === null,
  ) as ChannelView[];
}
