/**
 * What JetStream itself takes: `jetstream-loop.ts STORE STREAMS BYTES MS` appends messages of so many bytes to as many
 * streams, in each one after the other behind the last sequence, as a log must. One JSON line: appends a second
 * over all streams, and how long one took.
 */
import { randomBytes } from 'node:crypto';
import type { StreamConfig } from '@nats-io/jetstream';
import { type Link, openLink } from '../../src/log/nats/link.ts';
import { parseNatsUrl } from '../../src/log/nats/place.ts';
import { percentiles } from '../percentiles.ts';

const [, , store = '', streams = '1', bytes = '1000', ms = '1000'] = process.argv;
const WARM_MS = 300;

async function append(link: Link, replicas: number): Promise<number[]> {
  const name = `loop-${randomBytes(6).toString('hex')}`;
  const how = { storage: 'file', retention: 'limits', discard: 'new' } as Partial<StreamConfig>;
  await link.manager.streams.add({ name, subjects: [name], num_replicas: replicas, ...how });
  const data = randomBytes(Number(bytes));
  const takenMs: number[] = [];
  let lastSequence = 0;
  const from = performance.now() + WARM_MS;
  const stopAt = from + Number(ms);
  for (let now = performance.now(); now < stopAt; ) {
    const msgID = `${name}.${lastSequence}`;
    lastSequence = (await link.js.publish(name, data, { msgID, expect: { lastSequence } })).seq;
    const done = performance.now();
    if (now >= from) takenMs.push(done - now);
    now = done;
  }
  await link.manager.streams.delete(name);
  return takenMs;
}

const place = parseNatsUrl(store);
if (place === null) throw new Error(`${store} is no address of NATS`);
const link = await openLink(place);
const all = await Promise.all(
  Array.from({ length: Number(streams) }, () => append(link, place.replicas)),
);
await link.release();
const taken = all.flat();
const appendsPerSecond = (taken.length * 1000) / Number(ms);
process.stdout.write(`${JSON.stringify({ appendsPerSecond, ...percentiles(taken) })}\n`);
