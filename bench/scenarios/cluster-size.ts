/**
 * What a server of a cluster pays for a space, for an agent that is connected to it or to another, and for a message
 * that is stored: memory after a full collection, processor time while nothing happens, and time to make a space. All
 * are slopes: what the first of them cost is not counted.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchCluster, openBenchCluster, takeAgain, untilSent } from '../cluster.ts';
import type { Memory } from '../inspector.ts';
import { openHold, runLoad } from '../load.ts';
import { median } from '../percentiles.ts';
import { ranUsOf } from '../process.ts';
import type { Measure, Scenario, Setting } from '../scenario.ts';

const IDLE_MS = 5_000;

const memories = (cluster: BenchCluster): Promise<Memory[]> =>
  Promise.all(cluster.names.map((name) => cluster.server(name).readMemory()));

/** Of one server while nobody asks anything, in milliseconds a second; the mean of the three. */
async function idleMs(cluster: BenchCluster): Promise<number> {
  const ran = () => cluster.names.reduce((sum, name) => sum + ranUsOf(cluster.server(name).pid), 0);
  const before = ran();
  await wait(IDLE_MS);
  return (ran() - before) / 1000 / cluster.names.length / (IDLE_MS / 1000);
}

const heapKb = (before: Memory | undefined, after: Memory | undefined, count: number): number =>
  ((after?.heap ?? Number.NaN) - (before?.heap ?? Number.NaN)) / 1024 / count;

async function perSpace(cluster: BenchCluster, count: number): Promise<Measure[]> {
  const open = async (from: number, to: number): Promise<number[]> => {
    const takenMs: number[] = [];
    for (let n = from; n < to; n++) {
      const begun = performance.now();
      await untilSent(cluster.urls.slice(0, 1), `s${n}`);
      takenMs.push(performance.now() - begun);
      for (const url of cluster.urls.slice(1)) await untilSent([url], `s${n}`);
    }
    return takenMs;
  };
  await open(0, 5);
  const [before, idleBefore] = [await memories(cluster), await idleMs(cluster)];
  const takenMs = await open(5, 5 + count);
  const [after, idleAfter] = [await memories(cluster), await idleMs(cluster)];
  const heaps = before.map((one, i) => heapKb(one, after[i], count));
  return [
    {
      what: 'memory of an open space at each server (heap)',
      unit: 'KB',
      sides: { hub: [median(heaps)] },
    },
    {
      what: 'making a space: three copies of its streams',
      unit: 'ms',
      sides: { hub: [median(takenMs)] },
    },
    {
      what: `processor time of an idle server, ${5 + count + 1} spaces open, a second`,
      unit: 'ms',
      sides: { hub: [idleAfter], 'six spaces': [idleBefore] },
    },
  ];
}

async function perAgent(cluster: BenchCluster, agents: number): Promise<Measure[]> {
  const [url = ''] = cluster.urls;
  await using _warm = await openHold({ kind: 'hold', url, agents: 50 });
  const before = await memories(cluster);
  await using _held = await openHold({ kind: 'hold', url, agents });
  // What is told in passing has come by then.
  await wait(1_000);
  const after = await memories(cluster);
  const rows: [string, number][] = [
    ['memory of a connected agent at its server (heap)', 0],
    ['memory of that agent at another server (heap)', 1],
  ];
  return rows.map(([what, i]) => ({
    ...{ what, unit: 'KB' },
    sides: { hub: [heapKb(before[i], after[i], agents)] },
  }));
}

async function perMessage(cluster: BenchCluster, sends: number): Promise<Measure[]> {
  const shape = { senders: 10, listeners: 0, window: 256, warmMs: 0, measureMs: 0 };
  const job = { kind: 'flood', url: cluster.urls[0] as string, ...shape, sends } as const;
  await runLoad(job);
  const before = await memories(cluster);
  await runLoad(job);
  const after = await memories(cluster);
  const bytes = before.map((one, i) => heapKb(one, after[i], sends) * 1024);
  return [
    {
      what: 'memory of a stored message, at each server (heap)',
      unit: 'B',
      sides: { hub: [median(bytes)] },
    },
  ];
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster({ isInspected: true });
  const few = setting.isQuick;
  return [
    // First: what was said has to be indexed, and a server that does that is not idle.
    ...(await perSpace(cluster, few ? 3 : 20)),
    ...(await takeAgain(() => perAgent(cluster, few ? 50 : 500))),
    ...(await takeAgain(() => perMessage(cluster, few ? 5_000 : 50_000))),
  ];
}

export const clusterSize: Scenario = { name: 'cluster-size', isAskedFor: true, run };
