/**
 * The life of a bus: pools are started, watched, exchanged at a reload, and stopped. What passes
 * between clients and workers meanwhile is the business of the files around `exchange.ts`.
 */
import type { WorkerEvents } from '../process/worker.ts';
import type { Bus, BusOptions, BusState, ReloadReport } from './bus.ts';
import { countsOf } from './bus-methods.ts';
import { attach } from './clients.ts';
import { systemClock } from './clock.ts';
import type { BusConfig, PoolConfig } from './config.ts';
import type { Limits } from './config-limits.ts';
import { createExchange, setPools } from './exchange.ts';
import { receiveFromWorker } from './from-worker.ts';
import { tellClients } from './lost-sessions.ts';
import { planReload } from './plan-reload.ts';
import { withdrawQuestions } from './questions.ts';
import { failRest } from './request.ts';
import { createLink, createPool, type Link, type Pool } from './state.ts';
import { sweep, sweepEveryMs } from './timeouts.ts';
import { lose, moveWaiting, pump, takeOver } from './to-worker.ts';

/** What a worker that is not waited for any longer still gets. */
const GRACE_MS_MIN = 1_000;

export type BusFailure = 'bus.not-started' | 'bus.state';

/** A bus that cannot begin, or is asked what its state does not allow. */
export class BusError extends Error {
  override readonly name = 'BusError';
  readonly code: BusFailure;

  constructor(code: BusFailure, message: string) {
    super(message);
    this.code = code;
  }
}

export function createBus(options: BusOptions): Bus {
  const clock = options.clock ?? systemClock;
  const exchange = createExchange({
    clock,
    limits: options.config.limits,
    policy: options.config.policy,
    log: (level, text) => options.onLog?.({ level, text }),
    audit: options.onAudit ?? null,
    isPrivate: options.isPrivate ?? false,
    onForgotten: tellClients,
  });
  let state: BusState = 'created';
  let { config } = options;
  let stopping: Promise<void> | null = null;
  let stopSweep = (): void => undefined;
  /** Links whose pool is no longer in the config, until they are gone. */
  const retiring = new Set<Link>();
  /** Links a reload has started, until it is over: a stop meanwhile stops them too. */
  const joining = new Set<Link>();
  let reloading: Promise<void> | null = null;
  const watchers = new Set<() => void>();

  const openLink = (pool: Pool, index: number, limits: Limits): Link => {
    const events: WorkerEvents = {
      onReady() {
        pump(exchange, link);
        for (const look of [...watchers]) look();
      },
      onDown(_worker, down) {
        if (down.restartInMs !== null) exchange.stats.worker_restarts += 1;
        withdrawQuestions(exchange, link);
        lose(exchange, link, down);
        for (const look of [...watchers]) look();
      },
      onLines: (_worker, lines) => receiveFromWorker(exchange, link, lines),
      onNote: ({ name }, { level, text }) => exchange.log(level, `[worker=${name}] ${text}`),
    };
    const link: Link = createLink(options.openWorker(pool.config, index, events, limits), pool);
    pool.links.push(link);
    return link;
  };

  const openPool = (poolConfig: PoolConfig, limits: Limits): Pool => {
    const pool = createPool(poolConfig);
    for (let index = 0; index < poolConfig.instances; index += 1) openLink(pool, index, limits);
    return pool;
  };

  const startLinks = (links: readonly Link[]): void => {
    for (const { worker } of links) worker.start();
  };

  /** Ends when each of these pools has a worker that is ready, or one has none that could be. */
  const untilReady = (pools: readonly Pool[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const lost = pools.find((pool) => pool.links.every(isLost));
        if (lost) {
          watchers.delete(look);
          reject(
            new BusError(
              'bus.not-started',
              `pool ${lost.config.id} cannot start: its worker ${lost.lastDown ?? 'is down'}`,
            ),
          );
        } else if (pools.every(({ links }) => links.some(isReady))) {
          watchers.delete(look);
          resolve();
        }
      };
      watchers.add(look);
      look();
    });

  const sweepAgain = (): void => {
    stopSweep = clock.after(sweepEveryMs(exchange), () => {
      sweep(exchange);
      sweepAgain();
    });
  };

  const retire = async (link: Link, timeoutMs: number): Promise<void> => {
    link.isRetiring = true;
    retiring.add(link);
    takeOver(exchange, link);
    await quiet((call) => {
      link.onIdle = call;
      return link.inFlight.size === 0;
    }, timeoutMs);
    await link.worker.stop(GRACE_MS_MIN);
    retiring.delete(link);
  };

  /** Ends when the thing is quiet or the time is over; says which by nothing. */
  const quiet = (isQuiet: (call: () => void) => boolean, timeoutMs: number): Promise<void> =>
    new Promise((resolve) => {
      const callOff = clock.after(timeoutMs, resolve);
      const call = (): void => {
        callOff();
        resolve();
      };
      if (isQuiet(call)) call();
    });

  const allLinks = (): Link[] => [
    ...new Set([...exchange.pools.all.flatMap(({ links }) => links), ...joining, ...retiring]),
  ];

  /** Ends the wait for answers; a second call of `stop` may shorten it. */
  let hurry: ((timeoutMs: number) => void) | null = null;

  const stopAll = async (timeoutMs: number): Promise<void> => {
    let until = clock.now() + timeoutMs;
    exchange.isDraining = true;
    await new Promise<void>((resolve) => {
      let callOff = clock.after(timeoutMs, resolve);
      hurry = (ms) => {
        if (clock.now() + ms >= until) return;
        until = clock.now() + ms;
        callOff();
        callOff = clock.after(ms, resolve);
      };
      exchange.onQuiet = resolve;
      if (exchange.pending === 0) resolve();
    });
    failRest(exchange);
    const graceMs = Math.max(GRACE_MS_MIN, until - clock.now());
    await Promise.all(allLinks().map(({ worker }) => worker.stop(graceMs)));
    // One that waited for its next start is stopped without going down once more.
    for (const look of [...watchers]) look();
    stopSweep();
    for (const { peer } of [...exchange.clients]) peer.close('draining', true);
  };

  function checkRunning(): void {
    if (state === 'running') return;
    throw new BusError('bus.state', `only a running bus takes a new config; this one is ${state}`);
  }

  async function takeConfig(next: BusConfig): Promise<ReloadReport> {
    checkRunning();
    const { report, pools, fresh, revived, leaving } = planReload(
      exchange.pools.all,
      config.limits,
      next,
      (poolConfig) => openPool(poolConfig, next.limits),
      (pool, index) => openLink(pool, index, next.limits),
    );
    for (const link of fresh) joining.add(link);
    startLinks(fresh);
    try {
      await untilReady(pools.filter(({ links }) => links.some((link) => fresh.includes(link))));
      checkRunning();
    } catch (error) {
      await Promise.all(fresh.map(({ worker }) => worker.stop(GRACE_MS_MIN)));
      for (const pool of exchange.pools.all) dropLinks(pool, fresh);
      throw error;
    } finally {
      joining.clear();
    }
    const old = exchange.pools.all.filter((pool) => !pools.includes(pool));
    setPools(exchange, pools);
    exchange.limits = next.limits;
    exchange.policy = next.policy;
    config = next;
    for (const pool of pools) {
      const nextConfig = next.pools.find(({ id }) => id === pool.config.id);
      if (nextConfig) pool.config = nextConfig;
      dropLinks(pool, leaving);
    }
    // Not waited for: what is still broken must not keep the rest of the config out.
    startLinks(revived.filter(isGivenUp));
    for (const link of leaving) void retire(link, next.limits.drainMs);
    for (const pool of old) moveWaiting(exchange, pool);
    for (const link of allLinks()) if (isReady(link)) pump(exchange, link);
    return report;
  }

  return {
    get state() {
      return state;
    },
    get config() {
      return config;
    },
    async start() {
      if (state !== 'created') {
        throw new BusError(
          'bus.state',
          `a bus starts once, and this one is ${state}: create another`,
        );
      }
      state = 'starting';
      const pools = config.pools.map((pool) => openPool(pool, config.limits));
      setPools(exchange, pools);
      startLinks(pools.flatMap(({ links }) => links));
      sweepAgain();
      try {
        await untilReady(pools);
      } catch (error) {
        await this.stop(0);
        throw error;
      }
      if (state === 'starting') state = 'running';
    },
    attach(peer) {
      if (state !== 'running' && state !== 'starting') return null;
      if (exchange.clients.size >= exchange.limits.clientsMax) {
        exchange.log(
          'warn',
          `[client=${peer.label}] refused: max_clients is ${exchange.limits.clientsMax}`,
        );
        return null;
      }
      options.onClient?.(peer.label, 'connected');
      return attach(exchange, peer, (label, reason) => options.onClient?.(label, reason));
    },
    reload(next) {
      // One after the other: each is planned from what the one before it left.
      const report = reloading ? reloading.then(() => takeConfig(next)) : takeConfig(next);
      const over = report.then(
        () => undefined,
        () => undefined,
      );
      reloading = over;
      void over.then(() => {
        if (reloading === over) reloading = null;
      });
      return report;
    },
    stop(timeoutMs = config.limits.drainMs) {
      if (state === 'stopped') return Promise.resolve();
      state = 'stopping';
      hurry?.(timeoutMs);
      stopping ??= stopAll(timeoutMs).finally(() => {
        state = 'stopped';
      });
      return stopping;
    },
    stats: () => ({ ...exchange.stats }),
    counts: () => countsOf(exchange),
    workers: () => allLinks().map(({ worker }) => worker),
  };
}

const isReady = ({ worker }: Link): boolean => worker.state === 'ready';
const isGivenUp = ({ worker }: Link): boolean => worker.state === 'failed';
const isLost = ({ worker: { state } }: Link): boolean => state === 'failed' || state === 'stopped';

function dropLinks(pool: Pool, gone: readonly Link[]): void {
  for (const link of gone) {
    const at = pool.links.indexOf(link);
    if (at !== -1) pool.links.splice(at, 1);
  }
}
