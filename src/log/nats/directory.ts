/**
 * The names of the spaces that have a log under a prefix: the stream of pointers is their directory. A server follows
 * it, and looks a name up that it has not heard of, since another may have made that space a moment ago [SQ1].
 */
import type { DeliverPolicy } from '@nats-io/jetstream';
import { follow } from './consume.ts';
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
    // One that is being made is there until it is known not to be: who was making it may have been stopped.
    if (pointer === null || pointer.removed !== undefined || pointer.making === 0) continue;
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
  return pointer === null || isMaking(pointer.generation)
    ? null
    : spaceOf(place, pointer.generation);
}

/** It is told of when somebody stored something there [SP3]. */
function isMaking({ making }: Generation): boolean {
  return making !== undefined;
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
  // Who asks for a space that is not known looks it up, so that nothing hangs on this.
  const following = follow(link, pointersOf(place.prefix), {
    async from() {
      await openPointers(link, place);
      return {
        filter_subjects: `${place.prefix}.spaces.*`,
        deliver_policy: 'last_per_subject' as DeliverPolicy,
      };
    },
    hear({ data, subject }) {
      const pointer = parsePointer(data);
      if (pointer === null || isMaking(pointer)) return;
      if (pointerSubject(place, pointer.space) === subject) hear(spaceOf(place, pointer));
    },
  });
  return following.stop;
}
