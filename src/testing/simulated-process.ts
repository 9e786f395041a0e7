/**
 * One process of a simulation: a hub that may crash, be closed and come back at any
 * moment, over a disk that outlives it. What it was doing when it died is never heard of
 * again.
 */
import { type Hub, openHub } from '../hub/hub.ts';
import { type Log, LogError } from '../log/log.ts';
import type { Chance } from './chance.ts';
import { crashDisk, type Disk, type Faults, openFaultyLog } from './faulty-log.ts';
import { createMachine, type Machine } from './machine.ts';
import type { Member } from './simulated-cluster.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const QUEUE_MAX = 60;
const DISK_TROUBLES: ReadonlySet<string> = new Set([
  'log.unavailable',
  'log.unknown',
  'log.closed',
  // A word of its last life may come so late that a server takes it for another of its name, once.
  'log.locked',
]);

/** What actors act through: a hub, or whatever stands in front of one. */
export type Venue = Pick<Hub, 'submit' | 'ask' | 'messages' | 'stamp' | 'watch' | 'openFeed'>;

export interface SimulatedProcess {
  readonly name: string;
  /** Null while it is dead or opening. */
  readonly hub: Hub | null;
  /** Counts its lives. */
  readonly life: number;
  /** It does nothing for a while, and does not know. */
  readonly isPaused: boolean;
  /** Decides by itself, also for others where there are any. */
  readonly sequences: boolean;
  /** Actions under way in this life. */
  readonly pending: number;
  begin(run: (venue: Venue) => Promise<void>): void;
  open(): void;
  crash(): void;
  close(): void;
  pause(): void;
  resume(): void;
}

export interface ProcessOptions {
  readonly name: string;
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly faults: Faults;
  readonly snapshotEvery: number;
  /** Given where several servers sequence the space in turn. */
  readonly join?: ((name: string, machine: Machine) => Promise<Member>) | undefined;
  /** How far its time of day is from that of the world. */
  readonly skewMs?: () => number;
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
  let machine: Machine | null = null;
  let member: Member | undefined;

  /** The disk may fail; anything else is a mistake of ours, also an entry that cannot be read. */
  function failUnlessDisk(cause: unknown): void {
    if (!(cause instanceof LogError && DISK_TROUBLES.has(cause.code))) fail(cause);
  }

  async function start(host: Machine): Promise<Hub> {
    const { clock: own } = host;
    const joined = await options.join?.(name, host);
    member = joined;
    const log = openFaultyLog(disk, own, chance, faults);
    const opened = await openHub({
      space: 'simulated',
      log: joined === undefined ? log : watched(log, joined),
      ...(joined === undefined ? {} : { sequencing: joined.sequencing }),
      clock: own,
      snapshotEvery: options.snapshotEvery,
      cacheBytesMax: 2000,
      queueMax: QUEUE_MAX,
      onTrouble: (_, cause) => failUnlessDisk(cause),
    });
    joined?.serve(opened);
    return opened;
  }

  /** Only who sequences appends, unless a batch was too large to be sent. */
  function watched(log: Log, part: Member): Log {
    const append: Log['append'] = (expected, entries) => {
      if (!part.mayAppend) fail(`${name} appends, and does not sequence`);
      return log.append(expected, entries);
    };
    return Object.create(log, { append: { value: append } });
  }

  function open(): void {
    if (hub !== null || isOpening) return;
    const mine = life;
    const host = createMachine(clock, options.skewMs);
    isOpening = true;
    machine = host;
    start(host).then(
      (opened) => {
        if (mine !== life) return;
        isOpening = false;
        hub = options.mutate(opened);
        note(`${name} is open`);
      },
      (cause) => {
        if (mine !== life) return;
        isOpening = false;
        host.kill();
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
    get isPaused() {
      return machine?.isPaused === true;
    },
    get sequences() {
      return member?.sequencing.isElsewhere !== true;
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
      machine?.kill();
      crashDisk(disk, faults);
      end();
    },
    close() {
      const mine = life;
      if (hub === null || machine?.isPaused) return;
      note(`${name} is closed`);
      // Until it has ended it is not at rest, and nobody asks it anything.
      pending++;
      const closing = hub;
      const left = member?.leave() ?? Promise.resolve();
      left.then(() => closing.close()).then(() => mine === life && end(), fail);
    },
    pause() {
      if (machine?.isPaused !== false || hub === null) return;
      note(`${name} is paused`);
      machine.pause();
    },
    resume() {
      if (machine?.isPaused !== true) return;
      note(`${name} goes on`);
      machine.resume();
    },
  };
  return process;
}
