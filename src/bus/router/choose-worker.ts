/**
 * Which pool, and which of its workers [BU4]. Of the pools: the one the message names, else those
 * that list its `agentId`, else those with the longest prefix of its method, else all. Of their
 * workers: the one with the least to do; among equals the next in turn.
 */
import { type BusClient, type Link, loadOf, type Pool } from './state.ts';

export interface Pools {
  readonly byId: ReadonlyMap<string, Pool>;
  readonly all: readonly Pool[];
}

export interface Wanted {
  readonly pool: string | null;
  readonly agentId: string | null;
  readonly method: string | null;
}

const NONE: readonly Pool[] = [];

/** The pools a message may go to; none if it names one that is not there. */
export function poolsFor(pools: Pools, wanted: Wanted): readonly Pool[] {
  if (wanted.pool !== null) {
    const named = pools.byId.get(wanted.pool);
    return named ? [named] : NONE;
  }
  if (pools.all.length === 1) return pools.all;
  return (
    poolsOfAgent(pools, wanted.agentId) ?? poolsOfMethod(pools.all, wanted.method) ?? pools.all
  );
}

/** The pools an agent is listed in, when the one named is none of them; null when the two agree. */
export function contradicting(pools: Pools, named: string, agentId: string): string | null {
  const meant = poolsOfAgent(pools, agentId);
  if (!meant || meant.some(({ config }) => config.id === named)) return null;
  return meant.map(({ config }) => config.id).join(', ');
}

function poolsOfAgent(pools: Pools, agentId: string | null): readonly Pool[] | null {
  if (agentId === null) return null;
  const listed = pools.all.filter(({ config }) => config.agents.includes(agentId));
  if (listed.length > 0) return listed;
  const named = pools.byId.get(agentId);
  return named ? [named] : null;
}

function poolsOfMethod(all: readonly Pool[], method: string | null): readonly Pool[] | null {
  if (method === null) return null;
  let longest = 0;
  let found: Pool[] | null = null;
  for (const pool of all) {
    for (const prefix of pool.config.methods) {
      if (prefix.length < longest || !method.startsWith(prefix)) continue;
      if (!found || prefix.length > longest) found = [];
      longest = prefix.length;
      if (!found.includes(pool)) found.push(pool);
    }
  }
  return found;
}

/** So many times what is left for others one client may have. */
const SHARE = 7;

/** Of what is bounded for all, a client leaves an eighth to others, and of what they left an eighth again [BU29]. */
export const isWithinShare = (own: number, free: number): boolean => own < free * SHARE;

/**
 * Whether a worker may be given one more request of this client, who may not be alone.
 * What it asks beyond its share waits [BU29].
 */
export function hasRoom(link: Link, client: BusClient, isAlone: boolean): boolean {
  const { inFlight, abandoned, shares, pool } = link;
  const used = inFlight.size + abandoned.size;
  const free = pool.config.inFlightMax - used;
  if (free <= 0) return false;
  // Most of the time all of them together have no more than one might.
  return (
    isAlone || isWithinShare(used, free) || isWithinShare(shares.get(client)?.count ?? 0, free)
  );
}

/** The worker of these pools that is ready, has room for this client and the least to do, or null. */
export function leastLoaded(
  pools: readonly Pool[],
  client: BusClient,
  isAlone: boolean,
): Link | null {
  let best: Link | null = null;
  let bestLoad = Number.POSITIVE_INFINITY;
  for (const pool of pools) {
    const { links } = pool;
    for (let i = 0; i < links.length; i += 1) {
      const link = links[(pool.turn + i) % links.length] as Link;
      if (link.isRetiring || link.worker.state !== 'ready' || !hasRoom(link, client, isAlone))
        continue;
      const load = loadOf(link);
      if (load < bestLoad) {
        best = link;
        bestLoad = load;
      }
    }
  }
  if (best) best.pool.turn = (best.pool.links.indexOf(best) + 1) % best.pool.links.length;
  return best;
}

/** It takes messages, or may do so yet: one that is ending may be started again when it is over. */
export const isUsable = ({ worker: { state }, isRetiring }: Link): boolean =>
  !isRetiring &&
  (state === 'ready' || state === 'starting' || state === 'waiting' || state === 'stopping');

export const hasHope = (pool: Pool): boolean => pool.links.some(isUsable);
