/**
 * One process of a simulation: a hub that may crash, be closed and come back at any
 * moment, over a disk that outlives it. What it was doing when it died is never heard of
 * again.
 */
import { type Hub, openHub } from '../hub/hub.ts';
import { LogError } from '../log/log.ts';
import type { Chance } from './chance.ts';
import { crashDisk, type Disk, type Faults, openFaultyLog } from './faulty-log.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const QUEUE_MAX = 60;
const DISK_TROUBLES: ReadonlySet<string> = new Set([
  'log.unavailable',
  'log.unknown',
  'log.closed',
]);

/** What actors act through: a hub, or whatever stands in front of one. */
export type Venue = Pick<Hub, 'submit' | 'ask' | 'messages' | 'stamp' | 'watch' | 'openFeed'>;

export interface SimulatedProcess {
  readonly name: string;
  /** Null while it is dead or opening. */
  readonly hub: Hub | null;
  /** Counts its lives. */
  readonly life: number;
  /** Actions under way in this life. */
  readonly pending: number;
  begin(run: (venue: Venue) => Promise<void>): void;
  open(): void;
  crash(): void;
  close(): void;
}

export interface ProcessOptions {
  readonly name: string;
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly faults: Faults;
  readonly snapshotEvery: number;
  mutate(hub: Hub): Hub;
  note(what: string): void;
  fail(why: unknown): void;
  onEnd(process: SimulatedProcess): void;
}

export function createProcess(options: ProcessOptions): SimulatedProcess {
  const { name, chance, clock, disk, faults, note, fail } = options;
  let hub: Hub | null = null;
  let life = 0;
  let pending = 0;
  let isOpening = false;
  let kill = (): void => {};

  /** The disk may fail; anything else is a mistake of ours, also an entry that cannot be read. */
  function failUnlessDisk(cause: unknown): void {
    if (!(cause instanceof LogError && DISK_TROUBLES.has(cause.code))) fail(cause);
  }

  function open(): void {
    if (hub !== null || isOpening) return;
    const mine = life;
    const fork = clock.fork();
    isOpening = true;
    kill = fork.kill;
    openHub({
      space: 'simulated',
      log: openFaultyLog(disk, fork.clock, chance, faults),
      clock: fork.clock,
      snapshotEvery: options.snapshotEvery,
      cacheBytesMax: 2000,
      queueMax: QUEUE_MAX,
      onTrouble: (_, cause) => failUnlessDisk(cause),
    }).then(
      (opened) => {
        if (mine !== life) return;
        isOpening = false;
        hub = options.mutate(opened);
        note(`${name} is open`);
      },
      (cause) => {
        if (mine !== life) return;
        isOpening = false;
        note(`${name} did not open: ${cause}`);
        failUnlessDisk(cause);
      },
    );
  }

  function end(): void {
    hub = null;
    isOpening = false;
    life++;
    pending = 0;
    options.onEnd(process);
  }

  const process: SimulatedProcess = {
    name,
    get hub() {
      return hub;
    },
    get life() {
      return life;
    },
    get pending() {
      return pending;
    },
    begin(run) {
      if (hub === null) return;
      const mine = life;
      pending++;
      run(hub)
        .catch(failUnlessDisk)
        .finally(() => {
          if (mine === life) pending--;
        });
    },
    open,
    crash() {
      note(`${name} crashes`);
      kill();
      crashDisk(disk, faults);
      end();
    },
    close() {
      const mine = life;
      if (hub === null) return;
      note(`${name} is closed`);
      // Until it has ended it is not at rest, and nobody asks it anything.
      pending++;
      hub.close().then(() => mine === life && end(), fail);
    },
  };
  return process;
}
