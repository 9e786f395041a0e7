/**
 * One agent drains an inbox spread over many channels, fifty at a time, while another asks a small
 * question again and again: what the wide inbox costs the one who owns it, and everybody else.
 */
import { percentiles } from '../percentiles.ts';
import { createRequestStamp, openLoadSocket } from './socket.ts';

export interface WideJob {
  readonly kind: 'wide';
  readonly url: string;
  readonly channels: number;
  /** Messages on each. */
  readonly mail: number;
  readonly recvs: number;
}

export interface WideResult {
  readonly recvP50: number;
  readonly recvP99: number;
  /** How long the other agent waited for its answer, at most and usually. */
  readonly otherMax: number;
  readonly otherP50: number;
}

const PAGE = 50;
/** Channels filled at once. */
const WINDOW = 250;

export async function wide(job: WideJob): Promise<WideResult> {
  const run = `wide-${process.pid.toString(36)}`;
  const sender = await openLoadSocket(job.url, `fills-${run}`);
  const reader = await openLoadSocket(job.url, `drains-${run}`);
  const other = await openLoadSocket(job.url, `asks-${run}`);
  await reader.call('channels.subscribe', { pattern: `${run}:*` });
  for (let from = 0; from < job.channels; from += WINDOW) {
    const frames: Buffer[] = [];
    for (let n = from; n < Math.min(from + WINDOW, job.channels); n++) {
      const params = { channel: `${run}:${n}`, body: { text: 'one of many' } };
      frames.push(createRequestStamp('channels.send', params)(job.mail));
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const goal = sender.received + frames.length * job.mail;
    sender.onFrames = () => sender.received >= goal && resolve();
    sender.write(Buffer.concat(frames));
    await promise;
  }
  let isDone = false;
  const waits: number[] = [];
  const asking = (async () => {
    while (!isDone) {
      const from = performance.now();
      await other.call('inbox.peek', {});
      waits.push(performance.now() - from);
    }
  })();
  const recvs: number[] = [];
  for (let n = 0; n < job.recvs; n++) {
    const from = performance.now();
    const page = (await reader.call('channels.recv', { max_messages: PAGE })) as {
      messages?: unknown[];
    };
    recvs.push(performance.now() - from);
    if (page.messages?.length !== PAGE) throw new Error(`a page has ${page.messages?.length}`);
  }
  isDone = true;
  await asking;
  for (const socket of [sender, reader, other]) socket.close();
  return {
    recvP50: percentiles(recvs).p50,
    recvP99: percentiles(recvs).p99,
    otherMax: Math.max(...waits),
    otherP50: percentiles(waits).p50,
  };
}
