/**
 * Connects many agents, each subscribed and with an open stream, and holds them idle until stdin ends.
 */
import { openLoadSocket } from './socket.ts';

export interface HoldJob {
  readonly kind: 'hold';
  readonly url: string;
  readonly agents: number;
}

export async function hold(job: HoldJob): Promise<{ held: number }> {
  for (let n = 0; n < job.agents; n++) {
    const agent = `idle-${process.pid}-${n}`;
    const socket = await openLoadSocket(job.url, agent);
    await socket.call('channels.subscribe', { pattern: `idle:${agent}` });
    await socket.call('stream.open', { from: 'now' });
  }
  process.stdin.on('end', () => process.exit(0)).resume();
  return { held: job.agents };
}
