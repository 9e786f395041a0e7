/**
 * One send in flight: from the sender's write to the frame on another agent's socket.
 *
 * The next send waits for both the delivery and the acknowledgement, so nothing queues and the
 * figure is the path itself: parse, decide, fsync, push.
 */
import { type Percentiles, percentiles } from '../percentiles.ts';
import { createRequestStamp, openLoadSocket } from './socket.ts';

export interface LatencyJob {
  readonly kind: 'latency';
  readonly url: string;
  readonly warm: number;
  readonly count: number;
}

export async function latency(job: LatencyJob): Promise<Percentiles> {
  const channel = `bench:one-${process.pid.toString(36)}`;
  const listener = await openLoadSocket(job.url, `hears-${process.pid}`);
  await listener.call('channels.subscribe', { pattern: channel });
  await listener.call('stream.open', { from: 'now' });
  const sender = await openLoadSocket(job.url, `says-${process.pid}`);
  const stamp = createRequestStamp('channels.send', { channel, body: { text: 'are you there?' } });
  const takenMs: number[] = [];
  for (let n = 0; n < job.warm + job.count; n++) {
    const frame = stamp(1);
    const delivered = Promise.withResolvers<number>();
    const acked = Promise.withResolvers<void>();
    listener.onFrames = () => delivered.resolve(performance.now());
    sender.onFrames = () => acked.resolve();
    const from = performance.now();
    sender.write(frame);
    const at = await delivered.promise;
    await acked.promise;
    if (n >= job.warm) takenMs.push(at - from);
  }
  if (sender.last().result?.seq !== job.warm + job.count) {
    throw new Error(`not every send was stored: ${JSON.stringify(sender.last())}`);
  }
  listener.close();
  sender.close();
  return percentiles(takenMs);
}
