/**
 * Pages of history for a feed that catches up: what it is due next, in log order.
 * A page is made only while memory holds nothing that is not durable, and says at
 * that moment how far the feed has come; so nothing is missed or shown twice at
 * the seam to live [F2].
 */

import type { Matcher } from '../core/law/glob.ts';
import { channelKind } from '../core/law/name.ts';
import type { Principal } from '../core/law/principal.ts';
import type { ChannelView, WorldView } from '../core/law/state.ts';
import { checkRead } from '../core/talk/channel.ts';

/** With bodies of a MiB at the most, also what a page may take of memory. */
export const PAGE_MESSAGES_MAX = 64;

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

/** How far a feed has come. */
export interface FeedProgress {
  readonly options: FeedOptions;
  readonly matchers: readonly Matcher[];
  readonly exact: ReadonlySet<string>;
  isLive: boolean;
  isOpen: boolean;
  /** While catching up: how far each channel was shown. */
  readonly shown: Map<string, number>;
  /** While catching up: messages behind the feed that are owed again or were released, not shown yet. */
  debts: readonly Due[];
  /** The log's length when the feed first looked; -1 before. */
  openedAt: number;
  /** The first position shown; from there on everything owed was, up to the newest. -1 before. */
  since: number;
  /** Below this that cannot be said: the feed began here, or something was released since. */
  floor: number;
}

/** The next page, counted as shown from now on; empty when the feed has caught up. */
export function turnPage(world: WorldView, feed: FeedProgress): Due[] {
  if (feed.openedAt < 0) look(world, feed);
  const due = [...feed.debts];
  for (const channel of channelsOf(world, feed)) addDue(due, channel, feed);
  due.sort((a, b) => a.position - b.position);
  const page = due.slice(0, PAGE_MESSAGES_MAX);
  const debts = new Set(feed.debts);
  for (const one of page) if (!debts.delete(one)) feed.shown.set(one.channel, one.seq);
  feed.debts = [...debts];
  return page;
}

/** Up to which seq the feed needs nothing of a channel any more. */
export function shownOn(feed: FeedProgress, channel: ChannelView): number {
  const { from } = feed.options;
  const start = typeof from === 'number' ? from : feed.openedAt - 1;
  return feed.shown.get(channel.name) ?? channel.positions.lastAtOrBefore(start);
}

export function wants(world: WorldView, feed: FeedProgress, name: string): boolean {
  if (feed.exact.has(name)) return checkRead(world, feed.options.by, name) === null;
  return channelKind(name) === 'plain' && feed.matchers.some((matches) => matches(name));
}

/** A feed from the inbox begins at what is owed now, also where that lies behind the cursor. */
function look(world: WorldView, feed: FeedProgress): void {
  feed.openedAt = world.length;
  if (feed.options.from !== 'inbox') return;
  const debts: Due[] = [];
  for (const channel of channelsOf(world, feed)) {
    const member = channel.members.get(feed.options.by.id);
    if (member === undefined) continue;
    feed.shown.set(channel.name, member.cursor);
    for (const seq of member.again) {
      debts.push({ channel: channel.name, seq, position: channel.positions.at(seq) });
    }
  }
  feed.debts = debts;
}

function addDue(due: Due[], channel: ChannelView, feed: FeedProgress): void {
  const { positions, held, name, members } = channel;
  const isOwn = feed.options.channels === null;
  const from = isOwn ? (members.get(feed.options.by.id)?.from ?? positions.head) : 0;
  let seq = Math.max(from, shownOn(feed, channel)) + 1;
  for (let count = 0; seq <= positions.head && count < PAGE_MESSAGES_MAX; seq++) {
    if (held?.has(seq)) continue;
    due.push({ channel: name, seq, position: positions.at(seq) });
    count++;
  }
}

function* channelsOf(world: WorldView, feed: FeedProgress): Generator<ChannelView> {
  if (feed.options.channels === null) {
    const memberships = world.agents.get(feed.options.by.id)?.memberships.values() ?? [];
    for (const member of memberships) yield member.channel;
    return;
  }
  for (const channel of world.channels.values()) {
    if (wants(world, feed, channel.name)) yield channel;
  }
}
