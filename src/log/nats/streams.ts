/** The two streams of a generation of a log, its batches and its snapshots: what they are called, made and removed. */
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';
import type { NatsPlace } from './place.ts';

/** Whose they are. */
interface Pair {
  readonly space: string;
  readonly id: string;
}

export interface Names {
  readonly log: string;
  readonly logSubject: string;
  readonly snapshots: string;
  /** A snapshot's position is put behind it. */
  readonly snapshotSubject: string;
}

/** As the streams' own, where the shortest answer to a repeated write must not come too late. */
const REPEATS_NS = 10 * 60 * 1e9;

export function namesOf({ prefix }: NatsPlace, { space, id }: Pair): Names {
  const name = `${streamWord(space)}-${id}`;
  return {
    log: `${prefix}-log-${name}`,
    logSubject: `${prefix}.log.${name}`,
    snapshots: `${prefix}-snap-${name}`,
    snapshotSubject: `${prefix}.snap.${name}`,
  };
}

/** Names of streams and subjects have no dots, stars or slashes. */
export function streamWord(space: string): string {
  return space.replaceAll(/[^A-Za-z0-9_]/g, (char) => `=${char.charCodeAt(0).toString(16)}`);
}

/** Both, or none as far as that is to be had. */
export async function addStreams(
  link: Link,
  place: NatsPlace,
  generation: Pair,
  mayBeNamed = false,
): Promise<void> {
  const { log, logSubject, snapshots, snapshotSubject } = namesOf(place, generation);
  try {
    await addStream(link, place, { name: log, subjects: [logSubject], allow_direct: true });
    await addStream(link, place, { name: snapshots, subjects: [`${snapshotSubject}.*`] });
  } catch (error) {
    if (!mayBeNamed) await dropStreams(link, place, generation);
    throw error;
  }
}

/** Of streams that are nobody's: that one cannot be removed now is no reason to fail. Whether none of them is left. */
export async function dropStreams(
  link: Link,
  place: NatsPlace,
  generation: Pair,
): Promise<boolean> {
  const removed = await Promise.allSettled(
    streamsOf(place, generation).map((name) => removeStream(link, name)),
  );
  return removed.every(({ status }) => status === 'fulfilled');
}

export async function removeStreams(link: Link, place: NatsPlace, generation: Pair): Promise<void> {
  for (const name of streamsOf(place, generation)) await removeStream(link, name);
}

function streamsOf(place: NatsPlace, generation: Pair): string[] {
  const { log, snapshots } = namesOf(place, generation);
  return [log, snapshots];
}

async function removeStream({ manager }: Link, name: string): Promise<void> {
  await manager.streams.delete(name).catch((error: unknown) => {
    if (apiCode(error) !== API.streamNotFound) throw error;
  });
}

export async function addStream(
  { manager }: Link,
  place: NatsPlace,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  return manager.streams.add({
    ...config,
    ...({ storage: 'file', retention: 'limits', discard: 'new' } as Partial<StreamConfig>),
    num_replicas: place.replicas,
    duplicate_window: REPEATS_NS,
  });
}
