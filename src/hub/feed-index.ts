/**
 * Which feeds follow what: the inbox of an agent, a channel by its name, or a glob, which is compiled
 * once and asked once about a name however many feeds use it. Feeds and the letters of their globs are
 * counted for each agent, because every message is held against every glob [F6].
 */
import { type Refusal, refuse } from '../core/law/decider.ts';
import { createMatcher, isGlob, type Matcher } from '../core/law/glob.ts';
import { channelKind } from '../core/law/name.ts';
import type { FeedOptions } from './feed-page.ts';
import type { Holding } from './whispers.ts';

export const FEEDS_MAX = 20_000;
export const FEEDS_PER_AGENT_MAX = 100;
export const FEED_PATTERNS_MAX = 100;
/** Of all feeds of one agent together. */
export const FEED_GLOB_CHARS_PER_AGENT_MAX = 4_096;

export interface SharedGlob<F> {
  readonly matches: Matcher;
  readonly feeds: Set<F>;
}

interface Share {
  feeds: number;
  globChars: number;
}

interface Indexed {
  readonly options: FeedOptions;
}

export class FeedIndex<F extends Indexed> {
  readonly #all = new Set<F>();
  readonly #inboxes = new Map<string, Set<F>>();
  readonly #names = new Map<string, Set<F>>();
  readonly #globs = new Map<string, SharedGlob<F>>();
  readonly #shares = new Map<string, Share>();
  readonly #whispers: Holding | undefined;

  constructor(whispers?: Holding) {
    this.#whispers = whispers;
  }

  get size(): number {
    return this.#all.size;
  }

  /** All of them, as they are now. */
  list(): readonly F[] {
    return [...this.#all];
  }

  /** Feeds of agents' inboxes, by agent. */
  get inboxes(): ReadonlyMap<string, ReadonlySet<F>> {
    return this.#inboxes;
  }

  /** Why one more would be too many. */
  refusal({ by, channels }: FeedOptions): Refusal | null {
    const share = this.#shares.get(by.id) ?? { feeds: 0, globChars: 0 };
    if (this.#all.size >= FEEDS_MAX) {
      const message = `the hub serves ${FEEDS_MAX} feeds already; close one, or ask with channels.recv`;
      return refuse('limit.reached', message, { limit: 'FEEDS_MAX' });
    }
    const elsewhere = this.#whispers?.others.holds(by.id, 'feeds') ?? 0;
    if (share.feeds + elsewhere >= FEEDS_PER_AGENT_MAX) {
      const message = `${by.id} has ${FEEDS_PER_AGENT_MAX} feeds open already; close one, or follow more channels with one`;
      return refuse('limit.reached', message, { limit: 'FEEDS_PER_AGENT_MAX' });
    }
    if (channels !== null && channels.length > FEED_PATTERNS_MAX) {
      const message = `a feed follows at most ${FEED_PATTERNS_MAX} patterns; use one glob for many`;
      return refuse('limit.reached', message, { limit: 'FEED_PATTERNS_MAX' });
    }
    if (share.globChars + globChars(channels) > FEED_GLOB_CHARS_PER_AGENT_MAX) {
      const message = `the globs of an agent's feeds have at most ${FEED_GLOB_CHARS_PER_AGENT_MAX} characters together; use shorter ones, or close a feed`;
      return refuse('limit.reached', message, { limit: 'FEED_GLOB_CHARS_PER_AGENT_MAX' });
    }
    return null;
  }

  add(feed: F): void {
    const { by, channels } = feed.options;
    this.#all.add(feed);
    this.#count(by.id, 1, globChars(channels));
    if (channels === null) enter(this.#inboxes, by.id, feed);
    for (const pattern of channels ?? []) {
      if (!isGlob(pattern)) enter(this.#names, pattern, feed);
      else this.#shared(pattern).feeds.add(feed);
    }
  }

  /** False when it was not there. */
  delete(feed: F): boolean {
    if (!this.#all.delete(feed)) return false;
    const { by, channels } = feed.options;
    this.#count(by.id, -1, -globChars(channels));
    if (channels === null) leave(this.#inboxes, by.id, feed);
    for (const pattern of channels ?? []) {
      if (!isGlob(pattern)) leave(this.#names, pattern, feed);
      else {
        const { feeds } = this.#shared(pattern);
        feeds.delete(feed);
        if (feeds.size === 0) this.#globs.delete(pattern);
      }
    }
    return true;
  }

  /** The compiled globs among these patterns; of a feed that was added. */
  matchers(channels: readonly string[] | null): Matcher[] {
    return (channels ?? []).filter(isGlob).map((pattern) => this.#shared(pattern).matches);
  }

  /** Feeds that name the channel, or follow it by a glob; each once. */
  following(name: string): ReadonlySet<F> {
    const named = this.#names.get(name) ?? NONE;
    if (this.#globs.size === 0 || channelKind(name) !== 'plain') return named as ReadonlySet<F>;
    const found = new Set(named as ReadonlySet<F>);
    for (const { matches, feeds } of this.#globs.values()) {
      if (matches(name)) for (const feed of feeds) found.add(feed);
    }
    return found;
  }

  #shared(pattern: string): SharedGlob<F> {
    const known = this.#globs.get(pattern);
    if (known !== undefined) return known;
    const glob: SharedGlob<F> = { matches: createMatcher(pattern), feeds: new Set() };
    this.#globs.set(pattern, glob);
    return glob;
  }

  #count(agent: string, feeds: number, chars: number): void {
    const share = this.#shares.get(agent) ?? { feeds: 0, globChars: 0 };
    share.feeds += feeds;
    share.globChars += chars;
    this.#whispers?.hold(agent, 'feeds', share.feeds, FEEDS_PER_AGENT_MAX);
    if (share.feeds === 0) this.#shares.delete(agent);
    else this.#shares.set(agent, share);
  }
}

const NONE: ReadonlySet<never> = new Set();

/** What the globs among the patterns weigh. */
export function globChars(channels: readonly string[] | null): number {
  let chars = 0;
  for (const pattern of channels ?? []) if (isGlob(pattern)) chars += pattern.length;
  return chars;
}

function enter<F>(map: Map<string, Set<F>>, key: string, feed: F): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([feed]));
  else set.add(feed);
}

function leave<F>(map: Map<string, Set<F>>, key: string, feed: F): void {
  const set = map.get(key);
  set?.delete(feed);
  if (set?.size === 0) map.delete(key);
}
