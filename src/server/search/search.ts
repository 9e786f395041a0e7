/**
 * Full text search, as the desk asks for it: an index for each space, all of them in one thread, so that
 * no search holds the hub up [FT4]. The thread is there while somebody searches, and while an index is so
 * far behind that a search would not wait for it: a hub in which nobody searches has none at rest.
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { SearchPort } from '../desk/search-port.ts';
import { type Asked, createAsker } from './asker.ts';
import { createFollower, type Follower } from './follower.ts';
import type { Question } from './thread.ts';

/** How long a search waits for what became durable this moment. */
const REACH_MS = 2_000;
/** A hub that only just started has better things to do. */
const BEGIN_AFTER_MS = 5_000;
/** So long after the last search the thread ends: to begin one costs a search more than its answer. */
const REST_AFTER_MS = 600_000;
const IN_MEMORY = ':memory:';

export interface SearchOptions {
  /** Where the index of a space lies; `:memory:` for one that is not kept. */
  pathOf(space: string): string;
  onTrouble(what: string, cause: unknown): void;
  readonly reachMs?: number;
  readonly silentMs?: number;
  readonly beginAfterMs?: number;
  readonly restAfterMs?: number;
}

export interface Search extends SearchPort {
  /** A space was opened: its index is kept up from now on. */
  follow(hub: Hub): void;
  /** Before its files are moved. */
  forget(space: string): void;
  close(): Promise<void>;
}

export function createSearch(options: SearchOptions): Search {
  const { pathOf, onTrouble, reachMs = REACH_MS, restAfterMs = REST_AFTER_MS } = options;
  const asker = createAsker(options.silentMs);
  const followers = new Map<string, { readonly hub: Hub; readonly follower: Follower }>();
  asker.onLost(() => {
    for (const { follower } of followers.values()) follower.lose();
  });

  let searchedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;

  function noteSearch(): void {
    searchedAt = performance.now();
    timer ??= setTimeout(restSoon, restAfterMs).unref();
  }

  /** A follower that is at work says when it is done; an index in memory is nowhere else. */
  function restSoon(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const leftMs = searchedAt + restAfterMs - performance.now();
    if (leftMs > 0) {
      timer = setTimeout(restSoon, Math.ceil(leftMs)).unref();
      return;
    }
    const all = [...followers.values()];
    if (all.some(({ hub, follower }) => follower.isRunning || pathOf(hub.space) === IN_MEMORY))
      return;
    void Promise.all(all.map(({ follower }) => follower.sleep())).then(() => asker.rest());
  }

  function followerOf(hub: Hub): Follower {
    const known = followers.get(hub.space);
    if (known?.hub === hub) return known.follower;
    known?.follower.close();
    const path = pathOf(hub.space);
    const follower = createFollower({ hub, path, asker, onTrouble, onIdle: restSoon });
    followers.set(hub.space, { hub, follower });
    return follower;
  }

  async function askFor<Q extends Question>(
    by: string,
    question: Q,
  ): Promise<Exclude<Asked<Q>, { failed: string }>['ok'] | Refusal> {
    noteSearch();
    const answer = await asker.askFor(by, question);
    if (answer === 'busy') {
      return refuse('search.busy', 'too many searches wait already; try again when one is done');
    }
    if (answer === null) {
      return refuse('search.busy', 'the search was ended; ask for less, or try again');
    }
    if (!('failed' in answer)) return answer.ok as never;
    const known = 'space' in question ? followers.get(question.space) : undefined;
    if (answer.isDamaged) known?.follower.rebuild();
    else known?.follower.lose();
    return refuse('search.unavailable', 'the index is being made again; try again soon');
  }

  return {
    async reach(hub, _by) {
      noteSearch();
      const state = await followerOf(hub).reach(reachMs);
      return (
        state ??
        refuse(
          'search.unavailable',
          'there is no index now: the hub’s log says why, and it is tried on',
        )
      );
    },
    async find(hub, by, plan) {
      const found = await askFor(by, { kind: 'find', space: hub.space, plan });
      if (found !== null) return found;
      return refuse(
        'search.busy',
        'the search takes too long: look for rarer words, in one channel, or since a time',
      );
    },
    excerpts: (by, query, bodies) => askFor(by, { kind: 'excerpts', query, bodies }),
    follow(hub) {
      const follower = followerOf(hub);
      if (pathOf(hub.space) === IN_MEMORY) return;
      setTimeout(() => {
        if (followers.get(hub.space)?.follower === follower) follower.start();
      }, options.beginAfterMs ?? BEGIN_AFTER_MS).unref();
    },
    forget(space) {
      followers.get(space)?.follower.close();
      followers.delete(space);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      for (const { follower } of followers.values()) follower.close();
      followers.clear();
      await asker.close();
    },
  };
}
