/**
 * Feeds: messages pushed to whoever listens, after they are durable [F1]. A feed
 * starts now, at what the agent is owed, or after a position it has seen, and then
 * goes on live without a gap or a repeat [F2]. Within a feed, messages come in
 * log order.
 *
 * Messages of one channel and one batch are handed out as one shared segment, so
 * a door encodes them once however many listen. A sink that cannot keep up says
 * so and is cut off with a reason [F3]; nobody waits for it.
 */
import { checkRead } from '../core/channel.ts';
import { type Refusal, refuse } from '../core/decider.ts';
import { createMatcher, isGlob, type Matcher } from '../core/glob.ts';
import type { MessageSent } from '../core/message.ts';
import { channelKind } from '../core/name.ts';
import type { Principal } from '../core/principal.ts';
import type { Channel, World } from '../core/state.ts';
import type { MessageStore } from './message-store.ts';

export const FEEDS_MAX = 20_000;
export const FEED_PATTERNS_MAX = 100;
const PAGE = 500;

export interface Published {
  readonly position: number;
  readonly event: MessageSent;
}

export interface Segment {
  readonly messages: readonly Published[];
  /** A place for doors to keep what they made of it. */
  readonly encoded: Map<string, unknown>;
}

export type FeedEnd = 'closed' | 'slow_reader' | 'store_unavailable' | 'shutting_down';

export interface FeedSink {
  /** False when the listener is too far behind; it is then cut off. */
  deliver(segment: Segment): boolean;
  /** Resolves when a page of history may follow; keeps catching up from flooding a slow listener. */
  ready(): Promise<void>;
  end(reason: FeedEnd): void;
}

export interface FeedOptions {
  readonly by: Principal;
  /** `inbox`: everything owed first; a number: everything after that position first. */
  readonly from: 'now' | 'inbox' | number;
  /** Null follows the agent's subscriptions; else these names and globs, subscribed or not. */
  readonly channels: readonly string[] | null;
}

export interface Feed {
  close(reason?: FeedEnd): void;
}

export interface Feeds {
  readonly size: number;
  open(options: FeedOptions, sink: FeedSink): Feed | Refusal;
  publish(messages: readonly Published[]): void;
  closeAll(reason: FeedEnd): void;
}

interface OpenFeed {
  readonly options: FeedOptions;
  readonly sink: FeedSink;
  readonly matchers: readonly Matcher[] | null;
  readonly exact: ReadonlySet<string>;
  isLive: boolean;
  isOpen: boolean;
  /** While catching up: how far each channel was shown. */
  readonly shown: Map<string, number>;
  /** Channels that existed when a feed from a position or the inbox was opened start there; later ones at 0. */
  readonly start: (channel: Channel) => number;
}

export function createFeeds(
  world: () => World,
  durableLength: () => number,
  store: MessageStore,
  onPresented: (by: Principal, from: number, to: number) => void,
): Feeds {
  const byAgent = new Map<string, Set<OpenFeed>>();
  const byPattern = new Set<OpenFeed>();
  let size = 0;

  function open(options: FeedOptions, sink: FeedSink): Feed | Refusal {
    const forbidden = checkFeed(world(), options, size);
    if (forbidden !== null) return forbidden;
    const feed: OpenFeed = {
      options,
      sink,
      matchers: options.channels?.filter(isGlob).map(createMatcher) ?? null,
      exact: new Set(options.channels?.filter((name) => !isGlob(name))),
      isLive: options.from === 'now',
      isOpen: true,
      shown: new Map(),
      start: startOf(options),
    };
    if (options.channels !== null) byPattern.add(feed);
    else {
      const mine = byAgent.get(options.by.id) ?? new Set();
      byAgent.set(options.by.id, mine.add(feed));
    }
    size++;
    if (!feed.isLive) void catchUp(feed);
    return { close: (reason = 'closed') => close(feed, reason) };
  }

  function close(feed: OpenFeed, reason: FeedEnd): void {
    if (!feed.isOpen) return;
    feed.isOpen = false;
    size--;
    byPattern.delete(feed);
    const mine = byAgent.get(feed.options.by.id);
    mine?.delete(feed);
    if (mine?.size === 0) byAgent.delete(feed.options.by.id);
    feed.sink.end(reason);
  }

  function deliver(feed: OpenFeed, segment: Segment): void {
    if (!feed.isOpen) return;
    if (!feed.sink.deliver(segment)) {
      close(feed, 'slow_reader');
      return;
    }
    const first = segment.messages[0];
    const last = segment.messages.at(-1);
    if (feed.options.channels === null && first && last) {
      onPresented(feed.options.by, first.position, last.position);
    }
  }

  async function catchUp(feed: OpenFeed): Promise<void> {
    try {
      for (;;) {
        if (!feed.isOpen) return;
        const page = nextPage(world(), feed, durableLength());
        if (page.length === 0) {
          // Nothing lies between this look and the next publish: the feed is live without a gap.
          feed.isLive = true;
          return;
        }
        const stored = await store.read(page.map((one) => one.position));
        const messages: Published[] = [];
        for (const message of stored) {
          if (message === null) continue;
          const { position, body, ...event } = message;
          messages.push({ position, event: { ...event, body: JSON.stringify(body) } });
        }
        for (const { channel, seq } of page) feed.shown.set(channel, seq);
        deliver(feed, { messages, encoded: new Map() });
        await feed.sink.ready();
      }
    } catch {
      // The log could not be read. The listener resumes from where it was when it can.
      close(feed, 'store_unavailable');
    }
  }

  function publish(messages: readonly Published[]): void {
    if (size === 0) return;
    const touched = new Map<OpenFeed, Segment[]>();
    const add = (feed: OpenFeed, segment: Segment): void => {
      if (!feed.isLive) return;
      const segments = touched.get(feed);
      if (segments === undefined) touched.set(feed, [segment]);
      else segments.push(segment);
    };
    for (const segment of segmentsByChannel(messages)) {
      const name = segment.messages[0]?.event.channel as string;
      const channel = world().channels.get(name);
      if (channel === undefined) continue;
      publishToMembers(channel, segment, add);
      for (const feed of byPattern) if (wants(world(), feed, name)) add(feed, segment);
    }
    for (const [feed, segments] of touched) deliver(feed, merged(segments));
  }

  function publishToMembers(
    channel: Channel,
    segment: Segment,
    add: (feed: OpenFeed, segment: Segment) => void,
  ): void {
    const isFewer = byAgent.size < channel.members.size;
    for (const name of isFewer ? byAgent.keys() : channel.members.keys()) {
      const feeds = byAgent.get(name);
      const member = channel.members.get(name);
      if (feeds === undefined || member === undefined) continue;
      const owed = owedPart(segment, member.from);
      if (owed !== null) for (const feed of feeds) add(feed, owed);
    }
  }

  return {
    get size() {
      return size;
    },
    open,
    publish,
    closeAll(reason) {
      for (const feed of [...byPattern]) close(feed, reason);
      for (const feeds of [...byAgent.values()]) for (const feed of [...feeds]) close(feed, reason);
    },
  };
}

function checkFeed(world: World, options: FeedOptions, size: number): Refusal | null {
  if (size >= FEEDS_MAX) {
    return refuse('limit.reached', `the hub serves ${FEEDS_MAX} feeds already`, {
      limit: 'FEEDS_MAX',
    });
  }
  const { channels, by, from } = options;
  if (typeof from === 'number' && from >= world.length && from > 0) {
    return refuse('input.invalid', `position ${from} is beyond the log (${world.length} entries)`, {
      violations: [{ field: 'from', issue: 'beyond the end of the log' }],
    });
  }
  if (channels !== null && channels.length > FEED_PATTERNS_MAX) {
    return refuse('limit.reached', `a feed follows at most ${FEED_PATTERNS_MAX} patterns`, {
      limit: 'FEED_PATTERNS_MAX',
    });
  }
  for (const pattern of channels ?? []) {
    const forbidden = isGlob(pattern)
      ? channelKind(pattern) === 'plain'
        ? null
        : refuse(
            'pattern.reserved',
            'no glob reaches dm/, group/ or sox/ channels; name one exactly',
          )
      : checkRead(world, by, pattern);
    if (forbidden !== null) return forbidden;
  }
  return null;
}

function startOf({ from, by }: FeedOptions): (channel: Channel) => number {
  if (typeof from === 'number') return (channel) => channel.positions.lastAtOrBefore(from);
  const agent = by.id;
  return (channel) => channel.members.get(agent)?.cursor ?? channel.positions.head;
}

function wants(world: World, feed: OpenFeed, name: string): boolean {
  if (feed.exact.has(name)) return checkRead(world, feed.options.by, name) === null;
  return (
    channelKind(name) === 'plain' && (feed.matchers?.some((matches) => matches(name)) ?? false)
  );
}

interface PageItem {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
}

/** The next messages a catching-up feed is due, in log order, durable ones only. */
function nextPage(world: World, feed: OpenFeed, durableLength: number): PageItem[] {
  const items: PageItem[] = [];
  for (const [channel, from] of channelsOf(world, feed)) {
    const { positions, held, name } = channel;
    let seq = Math.max(from, feed.shown.get(name) ?? feed.start(channel)) + 1;
    for (let count = 0; seq <= positions.head && count < PAGE; seq++) {
      const position = positions.at(seq);
      if (position >= durableLength) break;
      if (held?.has(seq)) continue;
      items.push({ channel: name, seq, position });
      count++;
    }
  }
  items.sort((a, b) => a.position - b.position);
  return items.slice(0, PAGE);
}

function* channelsOf(world: World, feed: OpenFeed): Generator<readonly [Channel, number]> {
  if (feed.options.channels === null) {
    for (const member of world.agents.get(feed.options.by.id)?.memberships.values() ?? []) {
      yield [member.channel, member.from];
    }
    return;
  }
  for (const channel of world.channels.values()) {
    if (wants(world, feed, channel.name)) yield [channel, 0];
  }
}

function segmentsByChannel(messages: readonly Published[]): Segment[] {
  const lists = new Map<string, Published[]>();
  for (const message of messages) {
    const list = lists.get(message.event.channel);
    if (list === undefined) lists.set(message.event.channel, [message]);
    else list.push(message);
  }
  return [...lists.values()].map((list) => ({ messages: list, encoded: new Map() }));
}

/** A member that joined within the batch is owed only what came after. */
function owedPart(segment: Segment, from: number): Segment | null {
  const first = segment.messages[0];
  if (first !== undefined && first.event.seq > from) return segment;
  const messages = segment.messages.filter(({ event }) => event.seq > from);
  return messages.length === 0 ? null : { messages, encoded: new Map() };
}

function merged(segments: readonly Segment[]): Segment {
  const [only] = segments;
  if (segments.length === 1 && only !== undefined) return only;
  const messages = segments.flatMap((segment) => segment.messages);
  messages.sort((a, b) => a.position - b.position);
  return { messages, encoded: new Map() };
}
