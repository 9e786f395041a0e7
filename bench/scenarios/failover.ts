/**
 * How long nobody can write after the server that sequences a space is killed, and after it is stopped as an operator
 * stops it: from the signal to the first send that another server acknowledges. Each time the one that sequences
 * is hit, and comes back before the next. And how long a drain takes, until the server has nothing left of five spaces,
 * while clients of all servers send one after the other: the longest that one of them waited for its answer.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  ask,
  type BenchCluster,
  type Name,
  openBenchCluster,
  takeAgain,
  untilSent,
} from '../cluster.ts';
import { percentiles } from '../percentiles.ts';
import type { Measure, Scenario, Setting } from '../scenario.ts';

const TIMES = 20;
const GOAL_MS = 3_000;
const DEADLINE_MS = 30_000;
const SPACES = ['a', 'b', 'c', 'd'] as const;

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
    // Nodes that are starved may have no leader for a moment; then it is started again.
    await takeAgain(() => cluster.start(victim));
  }
  return taken;
}

/** One send after the other at one server, until told; the longest from one answer to the next. */
async function longestWaitMs(url: string, isOver: () => boolean): Promise<number> {
  let longest = 0;
  let last = performance.now();
  while (!isOver()) {
    await untilSent([url]);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}

interface Drained {
  readonly takenMs: number[];
  readonly waitedMs: number[];
}

async function drained(cluster: BenchCluster, times: number): Promise<Drained> {
  for (const space of SPACES) for (const url of cluster.urls) await untilSent([url], space);
  const all: Drained = { takenMs: [], waitedMs: [] };
  for (let n = 0; n < times; n++) {
    const name = await sequencer(cluster);
    for (const one of cluster.urls) await untilSent([one]);
    let isOver = false;
    const waits = cluster.urls.map((one) => longestWaitMs(one, () => isOver));
    const from = performance.now();
    try {
      while ((await cluster.drain(name)) > 0);
      all.takenMs.push(performance.now() - from);
    } finally {
      isOver = true;
    }
    all.waitedMs.push(Math.max(...(await Promise.all(waits))));
    await cluster.drain(name, true);
  }
  return all;
}

async function run(setting: Setting): Promise<Measure[]> {
  await using cluster = await openBenchCluster();
  const times = setting.isQuick ? 2 : TIMES;
  const killed = await takenMs(cluster, 'SIGKILL', times);
  const stopped = await takenMs(cluster, 'SIGTERM', times);
  const drain = await drained(cluster, times);
  return [
    ['nobody can write, kill -9 of the sequencer', killed] as const,
    ['nobody can write, the sequencer is stopped (SIGTERM)', stopped] as const,
    ['a drain of the sequencer, until it is empty', drain.takenMs] as const,
    ['the longest wait for a send while it drains', drain.waitedMs] as const,
  ].flatMap(([what, taken]) =>
    (['p50', 'p99'] as const).map((share) => ({
      what: `${what}, ${share} of ${taken.length}`,
      unit: 'ms',
      sides: { hub: [percentiles(taken)[share]] },
      goal: { atMost: GOAL_MS },
    })),
  );
}

export const failover: Scenario = { name: 'failover', isAskedFor: true, run };
