/**
 * Pages of history for a feed that catches up: what it is due next, in log order. The channels it
 * follows are found once, a bounded number at a look, and merged by the position of what is next on
 * each; so a page costs what it shows, however many channels and messages there are. A page is made
 * only while memory holds nothing that is not durable, and what becomes durable meanwhile is noted by
 * whoever publishes it; so nothing is missed or shown twice at the seam to live [F2].
 */

import type { Matcher } from '../core/law/glob.ts';
import { Heap, type Heaped } from '../core/law/heap.ts';
import { channelKind } from '../core/law/name.ts';
import type { Principal } from '../core/law/principal.ts';
import type { ChannelView, WorldView } from '../core/law/state.ts';
import { channelWith, checkPast, checkRead } from '../core/talk/channel.ts';

/** What one page may take of memory: bodies are a MiB at the most, and pages of large ones are short. */
export const PAGE_MESSAGES_MAX = 64;
export const PAGE_MESSAGES_FIRST = 8;
const PAGE_CHARS_WANTED: number = 1024 * 1024;
/** Channels looked at and messages passed over at one look. */
const STEPS_MAX = 2_000;
/** Letters of globs that are held against a name in the time of one such step, about. */
const GLOB_CHARS_PER_STEP = 32;

export interface Due {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
}

export interface FeedOptions {
  readonly by: Principal;
  /** `inbox`: everything owed first; a number: everything after that position first. */
  readonly from: 'now' | 'inbox' | number;
  /** Null follows the agent's subscriptions; else these names and globs, subscribed or not. */
  readonly channels: readonly string[] | null;
}

/** What is next on one channel, or one message behind the feed that is owed again or was released. */
interface Cursor extends Heaped {
  readonly channel: string;
  seq: number;
  position: number;
  readonly isOne: boolean;
}

/** How far a feed has come that catches up. */
export interface History {
  /** Its globs, compiled, and what they weigh. */
  readonly matchers: readonly Matcher[];
  readonly globChars: number;
  /** By channel, without those of one message. */
  readonly cursors: Map<string, Cursor>;
  readonly next: Heap<Cursor>;
  /** The channels that were not looked at yet, of the world they are in; null when all were. */
  unseen: Iterator<ChannelView> | null;
  world: WorldView | null;
  /** All that was due up to here has been handed out. */
  reached: number;
  /** From the inbox: up to which seq nothing was owed on a channel, by the time it was looked at. */
  readonly starts: Map<string, number>;
  pageMessages: number;
}

export interface FeedProgress {
  readonly options: FeedOptions;
  /** Null from when the feed is live. */
  history: History | null;
}

export interface Page {
  readonly due: readonly Due[];
  /** The feed has all that there is. */
  readonly isLast: boolean;
}

export function createHistory(
  { from }: FeedOptions,
  matchers: readonly Matcher[],
  globChars: number,
): History {
  return {
    ...{ matchers, globChars, cursors: new Map(), starts: new Map() },
    next: new Heap<Cursor>((a, b) => a.position < b.position),
    ...{ unseen: null, world: null, pageMessages: PAGE_MESSAGES_FIRST },
    reached: typeof from === 'number' ? from : -1,
  };
}

/** The next page, counted as shown from now on. */
export function turnPage(world: WorldView, options: FeedOptions, history: History): Page {
  let steps = lookAround(world, options, history);
  const due: Due[] = [];
  if (history.unseen !== null) return { due, isLast: false };
  for (; steps > 0 && due.length < history.pageMessages; steps--) {
    const cursor = history.next.first;
    if (cursor === undefined) break;
    const one = take(world, options, history, cursor);
    if (one !== null) due.push(one);
  }
  return { due, isLast: due.length === 0 && history.next.size === 0 };
}

/** Pages of large bodies are short, so that each stays a small piece of work. */
export function fitPage(history: History, chars: number): void {
  const { pageMessages } = history;
  history.pageMessages =
    chars > PAGE_CHARS_WANTED
      ? Math.max(1, pageMessages >> 2)
      : Math.min(PAGE_MESSAGES_MAX, pageMessages * 2);
}

/** Something was published on a channel the feed follows. */
export function noteFresh(history: History, { channel, seq, position }: Due): void {
  if (!history.cursors.has(channel)) begin(history, channel, seq, position);
}

/** A message that was held is there for whoever listens now, also where the feed has passed its place. */
export function noteReleased(history: History, message: Due): void {
  const { channel, seq, position } = message;
  const cursor = history.cursors.get(channel);
  // Before its first look a feed does not listen yet: what it goes on from may have been seen at another
  // hub, which had read of this release already.
  if (history.world === null) return;
  const isPassed =
    history.unseen !== null
      ? position <= history.reached || seq <= (history.starts.get(channel) ?? -1)
      : cursor === undefined || cursor.seq > seq;
  if (isPassed) history.next.put({ channel, seq, position, isOne: true, heapIndex: -1 });
}

/** A channel was retired: should its name be used again, it counts anew. */
export function forgetChannel(history: History, channel: string): void {
  const cursor = history.cursors.get(channel);
  if (cursor !== undefined) drop(history, cursor);
  history.starts.delete(channel);
}

/** Finds the channels there are; answers with the steps that are left for this look. */
function lookAround(world: WorldView, options: FeedOptions, history: History): number {
  let steps = STEPS_MAX;
  // Memory that was made anew while we looked has other channels in it.
  const isAnew = history.world === null || (history.unseen !== null && history.world !== world);
  if (isAnew) {
    history.world = world;
    history.unseen = channelsOf(world, options, history);
  }
  const { unseen } = history;
  if (unseen === null) return steps;
  const weight = 1 + Math.ceil(history.globChars / GLOB_CHARS_PER_STEP);
  while (steps > 0) {
    const { done, value: channel } = unseen.next();
    if (done) {
      history.unseen = null;
      break;
    }
    steps -= meet(world, options, history, channel) ? weight : 1;
  }
  return steps;
}

/** Walks on while channels come and go; one that comes meanwhile is met when something is published there. */
function* channelsOf(
  world: WorldView,
  { by, channels }: FeedOptions,
  { matchers }: History,
): Generator<ChannelView> {
  if (channels === null) {
    for (const { channel } of world.agents.get(by.id)?.memberships.values() ?? []) yield channel;
  } else if (matchers.length > 0) {
    yield* world.channels.values();
  } else {
    for (const name of new Set(channels)) {
      const channel = world.channels.get(name);
      if (channel !== undefined) yield channel;
    }
  }
}

/** Begins on a channel where there is something for the feed; true when its globs had to be asked. */
function meet(
  world: WorldView,
  options: FeedOptions,
  history: History,
  channel: ChannelView,
): boolean {
  const { by, from, channels } = options;
  const { name, positions } = channel;
  if (positions.head === 0) return false;
  if (typeof from === 'number' && positions.at(positions.head) <= from) return false;
  const member = channel.members.get(by.id);
  const isAsked = channels !== null;
  if (isAsked ? !wants(world, options, history.matchers, name) : member === undefined)
    return isAsked;
  const isPastOpen = typeof from === 'number' && checkPast(world, by, name) === null;
  if (isPastOpen) {
    const shown = positions.lastAtOrBefore(from);
    startAfter(history, channel, Math.max(shown, isAsked ? 0 : (member?.from ?? 0)));
  } else if (member !== undefined && (!isAsked || from === 'inbox')) {
    // What is owed, also where that lies behind the cursor; not what was read before.
    const after = typeof from === 'number' ? positions.lastAtOrBefore(from) : 0;
    for (const seq of member.again) {
      const position = positions.at(seq);
      const isOne = true;
      if (seq > after) history.next.put({ channel: name, seq, position, isOne, heapIndex: -1 });
    }
    history.starts.set(name, member.cursor);
    startAfter(history, channel, Math.max(after, member.cursor));
  }
  return isAsked;
}

export function wants(
  world: WorldView,
  { by, channels }: FeedOptions,
  matchers: readonly Matcher[],
  name: string,
): boolean {
  if (channels?.includes(name)) return checkRead(world, by, name) === null;
  return channelKind(name) === 'plain' && matchers.some((matches) => matches(name));
}

function startAfter(history: History, channel: ChannelView, shown: number): void {
  const { name, positions } = channel;
  if (shown >= positions.head) return;
  const cursor = history.cursors.get(name);
  if (cursor === undefined) return begin(history, name, shown + 1, positions.at(shown + 1));
  if (cursor.seq <= shown) return;
  // Something was published there before we came by.
  move(history, cursor, channel, shown + 1);
}

function begin(history: History, channel: string, seq: number, position: number): void {
  const cursor: Cursor = { channel, seq, position, isOne: false, heapIndex: -1 };
  history.cursors.set(channel, cursor);
  history.next.put(cursor);
}

function move(history: History, cursor: Cursor, { positions }: ChannelView, seq: number): void {
  if (cursor.isOne || seq > positions.head) return drop(history, cursor);
  cursor.seq = seq;
  cursor.position = positions.at(seq);
  history.next.put(cursor);
}

function drop(history: History, cursor: Cursor): void {
  history.next.delete(cursor);
  if (!cursor.isOne) history.cursors.delete(cursor.channel);
}

/** What the cursor is at, if the feed may have it; the cursor goes on to what comes after. */
function take(
  world: WorldView,
  { by, channels }: FeedOptions,
  history: History,
  cursor: Cursor,
): Due | null {
  const { channel: name, seq, position } = cursor;
  const channel = channelWith(world, cursor);
  const member = channel?.members.get(by.id);
  const isOpen = channels === null ? member !== undefined : checkRead(world, by, name) === null;
  if (channel === undefined || !isOpen) {
    drop(history, cursor);
    return null;
  }
  // Who left and came back is owed what came after.
  const from = channels === null ? (member?.from ?? 0) : 0;
  move(history, cursor, channel, Math.max(seq, from) + 1);
  history.reached = Math.max(history.reached, position);
  return seq <= from || channel.held?.has(seq) ? null : { channel: name, seq, position };
}
