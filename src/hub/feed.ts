/**
 * Feeds: messages pushed to whoever listens, after they are durable [F1]. A feed
 * starts now, at what the agent is owed, or after a position it has seen, and then
 * goes on live without a gap or a repeat [F2], in log order. Only a message that
 * was held comes late: when it is released, to whoever listens then [F4].
 *
 * Messages of one channel and one batch are handed out as one shared bundle, so
 * a door encodes them once however many listen. A sink that cannot keep up says
 * so and is cut off with a reason [F3]; nobody waits for it.
 */

import { isRefusal, type Refusal, refuse } from '../core/law/decider.ts';
import { isGlob } from '../core/law/glob.ts';
import { channelKind } from '../core/law/name.ts';
import type { Principal } from '../core/law/principal.ts';
import type { ChannelView, WorldView } from '../core/law/state.ts';
import { channelWith, checkPast, checkRead } from '../core/talk/channel.ts';
import type { MessageSent } from '../core/talk/message.ts';
import { FeedIndex, globChars } from './feed-index.ts';
import {
  createHistory,
  type Due,
  type FeedOptions,
  type FeedProgress,
  fitPage,
  forgetChannel,
  type History,
  noteFresh,
  noteReleased,
  turnPage,
} from './feed-page.ts';
import type { MessageStore } from './message-store.ts';
import type { Turns } from './turns.ts';
import type { Holding } from './whispers.ts';

export interface Published {
  readonly position: number;
  readonly event: MessageSent;
}

export interface Bundle {
  readonly messages: readonly Published[];
  /** A place for doors to keep what they made of it. */
  readonly encoded: Map<string, unknown>;
}

export type FeedEnd =
  | 'closed'
  | 'slow_reader'
  | 'store_unavailable'
  | 'shutting_down'
  | 'space_removed';

export interface FeedSink {
  /** False when the listener is too far behind; it is then cut off. */
  deliver(bundle: Bundle): boolean;
  /** Resolves when a page of history may follow; keeps catching up from flooding a slow listener. */
  ready(): Promise<void>;
  end(reason: FeedEnd): void;
}

export interface Feed {
  close(reason?: FeedEnd): void;
}

export interface Feeds {
  readonly size: number;
  open(options: FeedOptions, sink: FeedSink): Feed | Refusal;
  publish(messages: readonly Published[]): void;
  /** A held message was released, and that is durable. */
  release(message: Due): Promise<void>;
  /** A channel was retired: should its name be used again, it counts anew. */
  forget(channel: string): void;
  closeAll(reason: FeedEnd): void;
}

/** What feeds need of the hub. */
export interface FeedSource {
  readonly store: MessageStore;
  /** For pages of history: whoever else asks is served in between. */
  readonly turns: Turns;
  /** Where several servers count an agent's feeds together. */
  readonly whispers?: Holding | undefined;
  world(): WorldView;
  durableLength(): number;
  /** Looks when memory and log agree. */
  ask<T>(question: (world: WorldView) => T): Promise<T | Refusal>;
  /** These were shown, and with them everything owed from one position to another. */
  onPresented(by: Principal, messages: readonly Published[], from: number, to: number): void;
  onTrouble(what: string, cause: unknown): void;
}

/** A class, because there may be very many, each of them mostly silent. */
class OpenFeed implements FeedProgress, Feed {
  readonly options: FeedOptions;
  readonly sink: FeedSink;
  history: History | null = null;
  isOpen = true;
  /** The first position shown; from there on everything owed was, up to the newest. -1 before. */
  since = -1;
  /** Below this that cannot be said: the feed began here, or something was released since. */
  floor: number;
  readonly #close: (feed: OpenFeed, reason: FeedEnd) => void;

  constructor(
    options: FeedOptions,
    sink: FeedSink,
    close: (feed: OpenFeed, reason: FeedEnd) => void,
  ) {
    this.options = options;
    this.sink = sink;
    this.floor = typeof options.from === 'number' ? options.from + 1 : 0;
    this.#close = close;
  }

  close(reason: FeedEnd = 'closed'): void {
    this.#close(this, reason);
  }
}

export function createFeeds(source: FeedSource): Feeds {
  const { store, world, turns } = source;
  const index = new FeedIndex<OpenFeed>(source.whispers);

  function open(options: FeedOptions, sink: FeedSink): Feed | Refusal {
    const { from, channels } = options;
    const forbidden = index.refusal(options) ?? checkFeed(world(), options, source.durableLength());
    if (forbidden !== null) return forbidden;
    const feed = new OpenFeed(options, sink, close);
    index.add(feed);
    if (from !== 'now') {
      feed.history = createHistory(options, index.matchers(channels), globChars(channels));
      void catchUp(feed);
    }
    return feed;
  }

  function close(feed: OpenFeed, reason: FeedEnd): void {
    if (!index.delete(feed)) return;
    feed.isOpen = false;
    try {
      feed.sink.end(reason);
    } catch (cause) {
      source.onTrouble('a feed could not be told of its end', cause);
    }
  }

  function deliver(feed: OpenFeed, bundle: Bundle, isLate = false): void {
    const first = bundle.messages[0]?.position;
    const last = bundle.messages.at(-1)?.position;
    if (!feed.isOpen || first === undefined || last === undefined) return;
    if (!isTaken(feed, bundle)) {
      close(feed, 'slow_reader');
      return;
    }
    if (feed.options.channels !== null) return;
    if (!isLate && feed.since < 0) feed.since = first;
    // The last of them was shown at any rate.
    const from = isLate ? last : Math.min(Math.max(feed.since, feed.floor), last);
    source.onPresented(feed.options.by, bundle.messages, from, last);
  }

  /** A sink that breaks is cut off like one that is slow; the others go on. */
  function isTaken(feed: OpenFeed, bundle: Bundle): boolean {
    try {
      return feed.sink.deliver(bundle);
    } catch (cause) {
      source.onTrouble('a feed could not be delivered to', cause);
      return false;
    }
  }

  async function catchUp(feed: OpenFeed): Promise<void> {
    const { options, history } = feed;
    try {
      while (feed.isOpen && history !== null) {
        await turns.take(options.by.id);
        const page = await source.ask((now) => {
          if (!feed.isOpen) return null;
          const turned = turnPage(now, options, history);
          // Nothing lies between this look and the next publish: the feed is live without a gap.
          if (turned.isLast) feed.history = null;
          return turned;
        });
        if (page === null) return;
        if (isRefusal(page)) return close(feed, 'store_unavailable');
        if (page.isLast) return;
        if (page.due.length === 0) continue;
        const messages = await readDue(store, page.due);
        fitPage(history, charsOf(messages));
        deliver(feed, { messages, encoded: new Map() });
        if (feed.isOpen) await readiness(feed);
      }
    } catch {
      // The log could not be read. The listener resumes from where it was when it can.
      close(feed, 'store_unavailable');
    }
  }

  async function readiness(feed: OpenFeed): Promise<void> {
    try {
      await feed.sink.ready();
    } catch (cause) {
      source.onTrouble('a feed could not say when it is ready', cause);
      close(feed, 'slow_reader');
    }
  }

  function publish(messages: readonly Published[]): void {
    if (index.size === 0) return;
    const touched = new Map<OpenFeed, Bundle[]>();
    for (const bundle of bundlesByChannel(world(), messages)) {
      const channel = world().channels.get(bundle.messages[0]?.event.channel as string);
      if (channel === undefined) continue;
      publishToMembers(channel, bundle, touched);
      for (const feed of index.following(channel.name)) {
        if (mayRead(feed, channel.name)) add(touched, feed, bundle);
      }
    }
    for (const [feed, bundles] of touched) deliver(feed, merged(bundles));
  }

  /** A name may have been named when it could be read; globs reach what everybody reads. */
  function mayRead({ options }: OpenFeed, name: string): boolean {
    return channelKind(name) === 'plain' || checkRead(world(), options.by, name) === null;
  }

  function publishToMembers(
    channel: ChannelView,
    bundle: Bundle,
    touched: Map<OpenFeed, Bundle[]>,
  ): void {
    const { inboxes } = index;
    const isFewer = inboxes.size < channel.members.size;
    for (const name of isFewer ? inboxes.keys() : channel.members.keys()) {
      const feeds = inboxes.get(name);
      const member = channel.members.get(name);
      if (feeds === undefined || member === undefined) continue;
      const owed = owedPart(bundle, member.from);
      if (owed !== null) for (const feed of feeds) add(touched, feed, owed);
    }
  }

  async function release(message: Due): Promise<void> {
    const channel = world().channels.get(message.channel);
    if (index.size === 0 || channel === undefined) return;
    // Chosen before the body is read: a feed that catches up past it later will meet it by itself.
    const chosen = [...index.following(channel.name)].filter((feed) => mayRead(feed, channel.name));
    for (const { agent, from } of channel.members.values()) {
      if (from < message.seq) chosen.push(...(index.inboxes.get(agent.name) ?? []));
    }
    const live: OpenFeed[] = [];
    for (const feed of chosen) {
      feed.floor = Math.max(feed.floor, message.position + 1);
      // A feed that catches up gets it in its place, so that its position stays one to resume from.
      if (feed.history === null) live.push(feed);
      else noteReleased(feed.history, message);
    }
    if (live.length === 0) return;
    try {
      const bundle = { messages: await readDue(store, [message]), encoded: new Map() };
      for (const feed of live) deliver(feed, bundle, true);
    } catch (cause) {
      source.onTrouble('a released message could not be pushed; it stays in the inbox', cause);
      for (const feed of live) close(feed, 'store_unavailable');
    }
  }

  return {
    get size() {
      return index.size;
    },
    open,
    publish,
    release,
    forget(channel) {
      for (const { history } of index.list()) if (history) forgetChannel(history, channel);
    },
    closeAll(reason) {
      for (const feed of index.list()) close(feed, reason);
    },
  };
}

/** A live feed is handed the bundle; one that catches up meets it in its turn. */
function add(touched: Map<OpenFeed, Bundle[]>, feed: OpenFeed, bundle: Bundle): void {
  if (feed.history !== null) {
    const [first] = bundle.messages;
    if (first !== undefined) noteFresh(feed.history, { ...first.event, position: first.position });
    return;
  }
  const bundles = touched.get(feed);
  if (bundles === undefined) touched.set(feed, [bundle]);
  else bundles.push(bundle);
}

function charsOf(messages: readonly Published[]): number {
  let chars = 0;
  for (const { event } of messages) chars += event.body.length;
  return chars;
}

async function readDue(store: MessageStore, due: readonly Due[]): Promise<Published[]> {
  const messages: Published[] = [];
  for (const event of await store.readTexts(due.map(({ position }) => position))) {
    if (event !== null) messages.push({ position: event.position, event });
  }
  return messages;
}

function checkFeed(world: WorldView, options: FeedOptions, length: number): Refusal | null {
  const { channels, by, from } = options;
  const isPast = typeof from === 'number';
  if (isPast && from >= length && from > 0) {
    return refuse('input.invalid', `position ${from} is beyond the log (${length} entries)`, {
      violations: [{ field: 'from', issue: 'beyond the end of the log' }],
    });
  }
  for (const pattern of channels ?? []) {
    const forbidden = isGlob(pattern) ? checkGlob(pattern) : checkRead(world, by, pattern);
    // What a glob reaches is shown from now on; who names a channel is told that its past is closed.
    const closed = isPast && !isGlob(pattern) ? checkPast(world, by, pattern) : null;
    if (forbidden !== null || closed !== null) return forbidden ?? closed;
  }
  return null;
}

function checkGlob(pattern: string): Refusal | null {
  if (channelKind(pattern) === 'plain') return null;
  return refuse(
    'pattern.reserved',
    'no glob reaches dm/, group/ or sox/ channels; name one exactly',
  );
}

function bundlesByChannel(world: WorldView, messages: readonly Published[]): Bundle[] {
  const lists = new Map<string, Published[]>();
  for (const message of messages) {
    const { channel, seq } = message.event;
    // Retired within its own batch, it has no readers; its name may stand for another channel now.
    if (channelWith(world, { channel, seq, position: message.position }) === undefined) continue;
    const list = lists.get(message.event.channel);
    if (list === undefined) lists.set(message.event.channel, [message]);
    else list.push(message);
  }
  return [...lists.values()].map((list) => ({ messages: list, encoded: new Map() }));
}

/** A member that joined within the batch is owed only what came after. */
function owedPart(bundle: Bundle, from: number): Bundle | null {
  const first = bundle.messages[0];
  if (first !== undefined && first.event.seq > from) return bundle;
  const messages = bundle.messages.filter(({ event }) => event.seq > from);
  return messages.length === 0 ? null : { messages, encoded: new Map() };
}

function merged(bundles: readonly Bundle[]): Bundle {
  const [only] = bundles;
  if (bundles.length === 1 && only !== undefined) return only;
  const messages = bundles.flatMap((bundle) => bundle.messages);
  messages.sort((a, b) => a.position - b.position);
  return { messages, encoded: new Map() };
}
