/**
 * A world for tests of leases: its clock is turned by them, what servers say is late, lost or unanswered for, and machines
 * are paused, cut off or die.
 */
import { setImmediate } from 'node:timers/promises';
import { type Lease, type Leases, type LeasesOptions, openLeases } from './lease.ts';
import {
  type LeaseKey,
  type LeaseStore,
  type SaidWord,
  type Steady,
  WRITE_MS_MAX,
} from './lease-words.ts';

export interface World {
  readonly words: Map<LeaseKey, SaidWord>;
  now: number;
  /** How many words were said. */
  said: number;
  machine(): Machine;
  pass(ms: number, check?: () => void): Promise<void>;
}

export interface Machine {
  readonly steady: Steady;
  readonly store: LeaseStore;
  isPaused: boolean;
  isCut: boolean;
  isDead: boolean;
}

interface Timer {
  readonly at: number;
  readonly machine: Machine;
  run(): void;
}

/** What is said is heard at once, and can be read `lagMs` later. */
export function createWorld(chance: () => number = () => 0.1, lagMs = 0): World {
  const last = new Map<LeaseKey, { readonly before: SaidWord | null; readonly at: number }>();
  const timers = new Set<Timer>();
  const ears = new Set<{ readonly machine: Machine; hear(key: LeaseKey): void }>();
  const world: World = {
    ...{ words: new Map(), now: 0, said: 0 },
    machine() {
      const after = (ms: number, run: () => void): (() => void) => {
        const timer = { at: world.now + ms, machine, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      };
      const reach = <T>(act: () => T): Promise<T> =>
        new Promise((resolve, reject) => {
          const fail = (): void => reject(new Error('nobody answers'));
          const isLost = machine.isCut || chance() < 0.02;
          if (isLost) return void after(WRITE_MS_MAX, fail);
          after(chance() * 40, () => {
            const done = act();
            // It was done, and nobody is told.
            if (machine.isCut || chance() < 0.02) after(WRITE_MS_MAX, fail);
            else after(chance() * 40, () => resolve(done));
          });
        });
      const machine: Machine = {
        ...{ isPaused: false, isCut: false, isDead: false },
        steady: { now: () => world.now, after },
        store: {
          read: (key) =>
            reach(() => {
              const { before, at } = last.get(key) ?? {
                before: null,
                at: Number.NEGATIVE_INFINITY,
              };
              return world.now - at < lagMs ? before : (world.words.get(key) ?? null);
            }),
          write: (key, word, previous) =>
            reach(() => {
              if ((world.words.get(key)?.seq ?? 0) !== previous) return 'stale' as const;
              last.set(key, { before: world.words.get(key) ?? null, at: world.now });
              world.words.set(key, { word, seq: previous + 1 });
              world.said++;
              for (const { machine: one, hear } of ears) {
                if (!one.isCut && !one.isDead && chance() < 0.9) hear(key);
              }
              return previous + 1;
            }),
          servers: () =>
            reach(() => [...world.words.keys()].filter((key) => key.startsWith('server '))),
          hear(listener) {
            const ear = { machine, hear: listener };
            ears.add(ear);
            return () => ears.delete(ear);
          },
          forget: (key) => reach(() => void world.words.delete(key)),
        },
      };
      return machine;
    },
    async pass(ms, check) {
      const end = world.now + ms;
      for (;;) {
        await setImmediate();
        check?.();
        let due: Timer | null = null;
        for (const one of timers) {
          if (one.machine.isPaused || one.machine.isDead) continue;
          if (due === null || one.at < due.at) due = one;
        }
        if (due === null || due.at > end) break;
        timers.delete(due);
        world.now = Math.max(world.now, due.at);
        due.run();
      }
      world.now = end;
    },
  };
  return world;
}

export interface Server {
  readonly machine: Machine;
  readonly leases: Leases;
  readonly lease: Lease;
}

export async function until<T>(world: World, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const watched = promise.finally(() => {
    isDone = true;
  });
  watched.catch(() => {});
  while (!isDone) await world.pass(10);
  return watched;
}

export async function start(
  world: World,
  name: string,
  id: string = name,
  isAlone = false,
  more: Pick<LeasesOptions, 'mayHave'> = {},
): Promise<Server> {
  const machine = world.machine();
  const { steady, store } = machine;
  const options = { name, id, isAlone, store, steady, onLost: () => {}, ...more };
  const leases = await until(world, openLeases(options));
  const lease = await until(world, leases.of('x')).catch(async (cause) => {
    await until(world, leases.close());
    throw cause;
  });
  lease.stand();
  return { machine, leases, lease };
}
