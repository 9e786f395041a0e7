/**
 * The servers of a simulated cluster and what befalls them: ways between them or to the log are cut, messages are
 * lost, slow and repeated, a server is paused and comes back without knowing, clocks differ.
 */
import type { Chance } from './chance.ts';
import type { Faults } from './faulty-log.ts';
import { createNetwork } from './network.ts';
import { createSimulatedCluster, LOG, type SimulatedCluster } from './simulated-cluster.ts';
import type { ProcessOptions, SimulatedProcess } from './simulated-process.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface Cluster extends Pick<SimulatedCluster, 'counts'> {
  /** What makes a process one of its servers. */
  part(name: string): Pick<ProcessOptions, 'join' | 'skewMs' | 'faults'>;
  /** How often nobody said what became of what was forwarded, or of a question how far the log is. */
  readonly unanswered: number;
  people(servers: readonly SimulatedProcess[]): void;
  mishap(): void;
  /** Everybody goes on and hears everybody. */
  heal(): void;
  /** All clocks show the same again. */
  align(): void;
}

interface ClusterStage {
  readonly chance: Chance;
  readonly clock: VirtualClock;
  readonly faults: Faults;
  note(action: string): void;
  fail(why: unknown): void;
}

/** Shorter than a lease, about as long, and long after another has taken it. */
const PAUSES_MS = [300, 1_600, 2_600, 9_000, 30_000];
const SKEWS_MS = [0, 0, -40_000, -900, 900, 40_000];
const TOO_LARGE = 0.01;

export function createCluster({ chance, clock, faults, note, fail }: ClusterStage): Cluster {
  const network = createNetwork(clock, chance.fork());
  const own = chance.fork();
  const isTooLarge = (): boolean => own.isLikely(TOO_LARGE);
  const cluster = createSimulatedCluster({ network, isTooLarge, fail });
  const skews = new Map<string, number>();
  let servers: readonly SimulatedProcess[] = [];

  function cut(): void {
    const [a, b] = [
      chance.pick(servers).name,
      chance.pick([...servers.map(({ name }) => name), LOG]),
    ];
    if (a === b) return isolate(a);
    note(`${a} and ${b} are cut off from each other`);
    network.cut(a, b);
  }

  function isolate(name: string): void {
    note(`${name} is cut off from all`);
    for (const other of servers) if (other.name !== name) network.cut(name, other.name);
    network.cut(name, LOG);
  }

  function pause(): void {
    const server = chance.pick(servers);
    server.pause();
    clock.after(chance.pick(PAUSES_MS), server.resume);
  }

  function blur(): void {
    network.faults.loses = chance.pick([0, 0.05, 0.3]);
    network.faults.repeats = chance.pick([0, 0.3]);
    network.faults.slowMs = chance.pick([5, 50, 700, 4_000]);
    const { loses, repeats, slowMs } = network.faults;
    note(`messages are lost ${loses}, repeated ${repeats}, slow ${slowMs} ms`);
  }

  function skew(): void {
    const { name } = chance.pick(servers);
    skews.set(name, chance.pick(SKEWS_MS));
    note(`the clock of ${name} is off by ${skews.get(name)} ms`);
  }

  function mend(): void {
    note('the network is well');
    network.heal();
  }

  return {
    counts: cluster.counts,
    get unanswered() {
      const { nobody = 0, unknown = 0 } = cluster.counts;
      return nobody + unknown;
    },
    part: (name) => ({
      join: cluster.join,
      skewMs: () => skews.get(name) ?? 0,
      faults: Object.create(faults, { isCut: { get: () => network.isCut(name, LOG) } }),
    }),
    people(named) {
      servers = named;
    },
    mishap: () => chance.pick([cut, cut, pause, pause, blur, skew, mend, mend])(),
    heal() {
      mend();
      for (const server of servers) server.resume();
    },
    align: () => skews.clear(),
  };
}
