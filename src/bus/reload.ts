/**
 * What a new config changes. A pool whose processes would be made the same way goes on with them;
 * only more or fewer instances, other routes and other limits leave it as it is. A pool that would
 * be made another way is made anew beside the old one, which finishes what it has [BU18].
 */
import { isDeepStrictEqual } from 'node:util';
import type { ReloadReport } from './bus.ts';
import type { BusConfig, PoolConfig } from './config.ts';
import type { Link, Pool } from './state.ts';

export interface ReloadPlan {
  readonly report: ReloadReport;
  /** The pools from now on, in the order of the config. */
  readonly pools: readonly Pool[];
  /** Links to start before anything else. */
  readonly fresh: readonly Link[];
  /** Links that finish what they have and go. */
  readonly leaving: readonly Link[];
}

/** Everything of a pool that its processes are made from. */
function makingOf(pool: PoolConfig): object {
  const { instances: _, agents: __, methods: ___, inFlightMax: ____, ...making } = pool;
  return making;
}

export function planReload(
  old: readonly Pool[],
  next: BusConfig,
  openPool: (config: PoolConfig) => Pool,
  openLink: (pool: Pool, index: number) => Link,
): ReloadPlan {
  const added: string[] = [];
  const changed: string[] = [];
  const fresh: Link[] = [];
  const leaving: Link[] = [];
  const kept = new Set<Pool>();
  const pools = next.pools.map((config) => {
    const before = old.find((pool) => pool.config.id === config.id);
    if (before && isDeepStrictEqual(makingOf(before.config), makingOf(config))) {
      kept.add(before);
      if (!isDeepStrictEqual(before.config, config)) changed.push(config.id);
      for (let index = before.links.length; index < config.instances; index += 1) {
        fresh.push(openLink(before, index));
      }
      leaving.push(...before.links.slice(config.instances));
      return before;
    }
    (before ? changed : added).push(config.id);
    const pool = openPool(config);
    fresh.push(...pool.links);
    return pool;
  });
  const gone = old.filter((pool) => !kept.has(pool));
  for (const pool of gone) leaving.push(...pool.links);
  const removed = gone
    .map(({ config }) => config.id)
    .filter((id) => !next.pools.some((pool) => pool.id === id));
  return { report: { added, removed, changed }, pools, fresh, leaving };
}
