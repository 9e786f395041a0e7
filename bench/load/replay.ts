/**
 * Replays a stored channel page by page, several readers side by side, one page in flight each.
 *
 * The channel is filled first and readers wrap around, so a page is somewhere in the history and
 * not always the newest one. Every page must be full.
 */
import { type Cost, createMeter } from '../process.ts';
import { createRequestStamp, type LoadSocket, openLoadSocket } from './socket.ts';

export interface ReplayJob {
  readonly kind: 'replay';
  readonly url: string;
  readonly pid: number;
  readonly readers: number;
  readonly history: number;
  readonly measureMs: number;
}

/** What a message of a page costs. */
export interface ReplayResult extends Cost {
  readonly messagesPerSecond: number;
}

const PAGE = 100;
const FILL = 500;

export async function replay(job: ReplayJob): Promise<ReplayResult> {
  const channel = `bench:history-${process.pid.toString(36)}`;
  const sender = await openLoadSocket(job.url, `wrote-${process.pid}`);
  const stamp = createRequestStamp('channels.send', { channel, body: { text: 'long ago' } });
  for (let filled = 0; filled < job.history; filled += FILL) {
    const goal = sender.received + FILL;
    const { promise, resolve } = Promise.withResolvers<void>();
    sender.onFrames = () => sender.received >= goal && resolve();
    sender.write(stamp(FILL));
    await promise;
  }
  sender.close();
  const until = performance.now() + job.measureMs;
  const from = performance.now();
  const meter = createMeter(job.pid);
  const counts = await Promise.all(
    Array.from({ length: job.readers }, async (_, n) => {
      const socket = await openLoadSocket(job.url, `reads-${process.pid}-${n}`);
      await socket.call('channels.subscribe', { pattern: channel });
      return readPages(socket, { channel, history: job.history, first: n, until });
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  const read = counts.reduce((sum, count) => sum + count, 0);
  return { messagesPerSecond: read / seconds, ...meter.costOf(read) };
}

async function readPages(
  socket: LoadSocket,
  job: { channel: string; history: number; first: number; until: number },
): Promise<number> {
  const pages = job.history / PAGE;
  let read = 0;
  // A stride that is prime to the number of pages visits all of them, in no useful order.
  for (let page = job.first; performance.now() < job.until; page = (page + 37) % pages) {
    const params = { channel: job.channel, since: page * PAGE + 1, limit: PAGE };
    const { messages } = await socket.call('channels.replay', params);
    if ((messages as unknown[] | undefined)?.length !== PAGE)
      throw new Error('a page was not full');
    read += PAGE;
  }
  socket.close();
  return read;
}
