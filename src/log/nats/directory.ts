/**
 * The names of the spaces that have a log under a prefix: the stream of pointers is their directory. A server follows
 * it, and looks a name up that it has not heard of, since another may have made that space a moment ago [SQ1].
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ConsumerMessages, DeliverPolicy } from '@nats-io/jetstream';
import { openPointers, parsePointer, pointerSubject, pointersOf } from './generation.ts';
import type { Link } from './link.ts';
import type { NatsPlace } from './place.ts';

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
    if (message !== null) spaces.push(parsePointer(message.data).space);
  }
  return spaces.sort();
}

/** Asked of who leads the stream, so that what was made before is known. */
export async function hasNatsSpace(link: Link, place: NatsPlace, space: string): Promise<boolean> {
  const found = await link.manager.streams.getMessage(pointersOf(place.prefix), {
    last_by_subj: pointerSubject(place, space),
  });
  return found !== null;
}

/** Tells of every space that is there or is made; the answer stops the telling. */
export function followNatsSpaces(
  link: Link,
  place: NatsPlace,
  hear: (space: string) => void,
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
    for await (const { data } of messages) {
      if (isStopped) return;
      hear(parsePointer(data).space);
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
