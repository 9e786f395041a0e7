/**
 * Many agents connect at the same moment; each is there when it has subscribed and its stream is open.
 */
import { percentiles } from '../percentiles.ts';
import { openLoadSocket } from './socket.ts';

export interface StormJob {
  readonly kind: 'storm';
  readonly url: string;
  readonly agents: number;
}

export interface StormResult {
  /** Until everybody is there. */
  readonly allMs: number;
  /** Until one agent is there, at the slow end. */
  readonly p99Ms: number;
}

export async function storm(job: StormJob): Promise<StormResult> {
  const run = process.pid.toString(36);
  const from = performance.now();
  const arrivals = await Promise.all(
    Array.from({ length: job.agents }, async (_, n) => {
      const agent = `storm-${run}-${n}`;
      const socket = await openLoadSocket(job.url, agent);
      await socket.call('channels.subscribe', { pattern: `storm:${agent}` });
      await socket.call('stream.open', { from: 'now' });
      return { socket, ms: performance.now() - from };
    }),
  );
  const allMs = performance.now() - from;
  for (const { socket } of arrivals) socket.close();
  return { allMs, p99Ms: percentiles(arrivals.map(({ ms }) => ms)).p99 };
}
