/**
 * What a new config changes. A pool whose processes would be made the same way goes on with them:
 * more or fewer instances and other routes leave it as it is. A pool that would be made another
 * way, also because a limit its processes live under is another, is made anew beside the old one,
 * which finishes what it has [BU18]. Places that were given up are tried again [BU24].
 */
import { isDeepStrictEqual } from 'node:util';
import type { ReloadReport } from './bus.ts';
import type { BusConfig, PoolConfig } from './config.ts';
import type { Limits } from './config-limits.ts';
import type { Link, Pool } from './state.ts';

export interface ReloadPlan {
  readonly report: ReloadReport;
  /** The pools from now on, in the order of the config. */
  readonly pools: readonly Pool[];
  /** Links to start before anything else. */
  readonly fresh: readonly Link[];
  /** Links that were given up and stay: started again once the config is taken. */
  readonly revived: readonly Link[];
  /** Links that finish what they have and go. */
  readonly leaving: readonly Link[];
}

/** Everything that the processes of a pool are made from. */
function makingOf(pool: PoolConfig, limits: Limits): object {
  const { instances: _, agents: __, methods: ___, inFlightMax: ____, ...making } = pool;
  const { messageBytesMax, straysMax, restartsMax, restartWindowMs, restartWaitMsMin } = limits;
  return {
    ...making,
    limits: { messageBytesMax, straysMax, restartsMax, restartWindowMs, restartWaitMsMin },
  };
}

export function planReload(
  old: readonly Pool[],
  oldLimits: Limits,
  next: BusConfig,
  openPool: (config: PoolConfig) => Pool,
  openLink: (pool: Pool, index: number) => Link,
): ReloadPlan {
  const added: string[] = [];
  const changed: string[] = [];
  const fresh: Link[] = [];
  const revived: Link[] = [];
  const leaving: Link[] = [];
  const kept = new Set<Pool>();
  const pools = next.pools.map((config) => {
    const before = old.find((pool) => pool.config.id === config.id);
    const isMadeTheSame =
      before &&
      isDeepStrictEqual(makingOf(before.config, oldLimits), makingOf(config, next.limits));
    if (isMadeTheSame) {
      kept.add(before);
      const lost = before.links
        .slice(0, config.instances)
        .filter(({ worker }) => worker.state === 'failed');
      revived.push(...lost);
      if (lost.length > 0 || !isDeepStrictEqual(before.config, config)) changed.push(config.id);
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
  return { report: { added, removed, changed }, pools, fresh, revived, leaving };
}
