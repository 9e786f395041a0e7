/**
 * The names of the spaces that have a log under a prefix: the stream of pointers is their directory. A server follows
 * it, and looks a name up that it has not heard of, since another may have made that space a moment ago [SQ1].
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ConsumerMessages, DeliverPolicy } from '@nats-io/jetstream';
import {
  type Generation,
  openPointers,
  parsePointer,
  pointerSubject,
  pointersOf,
  readPointer,
} from './generation.ts';
import type { Link } from './link.ts';
import type { NatsPlace } from './place.ts';
import { type NatsRemoval, removalOf } from './removal.ts';

/** Whoever lost the directory begins again after this long. */
const AGAIN_MS = 1_000;

export async function listNatsSpaces(link: Link, place: NatsPlace): Promise<string[]> {
  await openPointers(link, place);
  const { prefix } = place;
  const info = await link.manager.streams.info(pointersOf(prefix), {
    subjects_filter: `${prefix}.spaces.*`,
  });
  const spaces: string[] = [];
  for (const subject of Object.keys(info.state.subjects ?? {})) {
    const message = await link.manager.streams.getMessage(pointersOf(prefix), {
      last_by_subj: subject,
    });
    const pointer = message === null ? null : parsePointer(message.data);
    if (pointer === null || pointer.removed !== undefined) continue;
    if (pointerSubject(place, pointer.space) === subject) spaces.push(pointer.space);
  }
  return spaces.sort();
}

/** Asked of who leads the stream, so that what was made or removed before is known; null when there never was one. */
export async function findNatsSpace(
  link: Link,
  place: NatsPlace,
  space: string,
): Promise<NatsSpace | null> {
  const pointer = await readPointer(link, place, space);
  return pointer === null ? null : spaceOf(place, pointer.generation);
}

export interface NatsSpace {
  readonly name: string;
  readonly removal: NatsRemoval | null;
}

function spaceOf(place: NatsPlace, generation: Generation): NatsSpace {
  return { name: generation.space, removal: removalOf(place, generation) };
}

/** Tells of every space that is there, is made or is removed; the answer stops the telling. */
export function followNatsSpaces(
  link: Link,
  place: NatsPlace,
  hear: (space: NatsSpace) => void,
): () => void {
  let isStopped = false;
  let messages: ConsumerMessages | null = null;
  const run = async (): Promise<void> => {
    await openPointers(link, place);
    const consumer = await link.js.consumers.get(pointersOf(place.prefix), {
      filter_subjects: `${place.prefix}.spaces.*`,
      deliver_policy: 'last_per_subject' as DeliverPolicy,
    });
    messages = await consumer.consume();
    if (isStopped) messages.stop();
    for await (const { data, subject } of messages) {
      if (isStopped) return;
      const pointer = parsePointer(data);
      if (pointer !== null && pointerSubject(place, pointer.space) === subject)
        hear(spaceOf(place, pointer));
    }
  };
  const begin = async (): Promise<void> => {
    while (!isStopped) {
      // Who asks for a space that is not known looks it up, so that nothing hangs on this.
      await run().catch(() => {});
      if (!isStopped) await wait(AGAIN_MS, undefined, { ref: false });
    }
  };
  void begin();
  return () => {
    isStopped = true;
    messages?.stop();
  };
}
