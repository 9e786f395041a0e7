/** A log written anew: another stream, and the one message that makes it count [G12]. */
import { type Compacted, LogError, type StoredBatch } from '../log.ts';
import {
  addStreams,
  createId,
  type Generation,
  movePointer,
  namesOf,
  removeStreams,
} from './generation.ts';
import { writeReplaced } from './message.ts';
import type { NatsPlace } from './place.ts';
import { putBatch, type Target } from './writer.ts';

/** Everything is written before the old stream ends with the name of the new: that is the moment of the change. */
export async function replaceStream(
  target: Target,
  place: NatsPlace,
  old: Generation,
  lastSeq: number,
  batches: AsyncIterable<StoredBatch>,
  compacted: Compacted,
): Promise<void> {
  const { link, subject, path } = target;
  const { space, id, lineage = id } = old;
  const fresh: Generation = { space, id: createId(), compacted, lineage };
  await addStreams(link, place, fresh);
  try {
    const names = namesOf(place, fresh);
    const to = { ...target, stream: names.log, subject: names.logSubject };
    let seq = 0;
    for await (const batch of batches) {
      const put = await putBatch(to, batch, seq);
      if (put === 'conflict')
        throw new LogError('log.unavailable', `${path}: another writer is in ${names.log}`);
      seq = put.lastSeq;
    }
    const headers = writeReplaced(link.createHeaders(), fresh.id);
    await link.js.publish(subject, JSON.stringify(fresh), {
      ...{ headers, msgID: `replaced.${fresh.id}`, expect: { lastSequence: lastSeq } },
    });
  } catch (error) {
    await removeStreams(link, place, fresh);
    throw error;
  }
  await movePointer(link, place, fresh);
  await removeStreams(link, place, old);
}
