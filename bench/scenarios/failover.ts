/**
 * How long nobody can write after the server that sequences a space is killed, and after it is stopped as an operator
 * stops it: from the signal to the first send that another server acknowledges. Each time the one that sequences
 * is hit, and comes back before the next.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { ask, type BenchCluster, type Name, openBenchCluster, untilSent } from '../cluster.ts';
import { percentiles } from '../percentiles.ts';
import type { Measure, Scenario, Setting } from '../scenario.ts';

const TIMES = 20;
const GOAL_MS = 3_000;
const DEADLINE_MS = 30_000;

async function sequencer(cluster: BenchCluster): Promise<Name> {
  const stopAt = performance.now() + DEADLINE_MS;
  while (performance.now() < stopAt) {
    for (const url of cluster.urls) {
      const name = (await ask(url, 'status', {}))?.cluster?.sequencer;
      const known = cluster.names.find((one) => one === name);
      if (known !== undefined) return known;
    }
    await wait(50);
  }
  throw new Error('nobody sequences the space');
}

async function takenMs(
  cluster: BenchCluster,
  signal: 'SIGKILL' | 'SIGTERM',
  times: number,
): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const victim = await sequencer(cluster);
    const others = cluster.names.filter((name) => name !== victim);
    const urls = others.map((name) => cluster.server(name).url);
    // Who was asked a moment ago has nothing to open first.
    for (const url of urls) await untilSent([url]);
    const from = performance.now();
    const gone = cluster.end(victim, signal);
    await untilSent(urls);
    taken.push(performance.now() - from);
    await gone;
    await cluster.start(victim);
  }
  return taken;
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster();
  const times = setting.isQuick ? 2 : TIMES;
  const killed = await takenMs(cluster, 'SIGKILL', times);
  const stopped = await takenMs(cluster, 'SIGTERM', times);
  return [
    ['kill -9 of the sequencer', killed] as const,
    ['the sequencer is stopped (SIGTERM)', stopped] as const,
  ].flatMap(([what, taken]) =>
    (['p50', 'p99'] as const).map((share) => ({
      what: `nobody can write, ${what}, ${share} of ${taken.length}`,
      unit: 'ms',
      sides: { hub: [percentiles(taken)[share]] },
      goal: { atMost: GOAL_MS },
    })),
  );
}

export const failover: Scenario = { name: 'failover', isAskedFor: true, run };
