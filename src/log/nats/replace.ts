/** A log written anew: another stream, and the one message that makes it count [G12]. */
import { type Compacted, LogError, type StoredBatch } from '../log.ts';
import { createId, type Generation, movePointer } from './generation.ts';
import { writeReplaced } from './message.ts';
import type { NatsPlace } from './place.ts';
import { type Sent, sendOnce } from './send-once.ts';
import { addStreams, dropStreams, type Names, namesOf, removeStreams } from './streams.ts';
import { putBatch, type Target } from './writer.ts';

/**
 * Everything is written before the old stream ends with the name of the new: that is the moment of the change. The new one
 * is removed when it is known not to have come, and both are left when nobody knows: opening the log tells [NL10].
 */
export async function replaceStream(
  target: Target,
  place: NatsPlace,
  old: Generation,
  lastSeq: number,
  batches: AsyncIterable<StoredBatch>,
  compacted: Compacted,
): Promise<void> {
  const { link, path } = target;
  const { space, id, lineage = id } = old;
  const fresh: Generation = { space, id: createId(), compacted, lineage };
  const names = namesOf(place, fresh);
  await addStreams(link, place, fresh);
  let sent: Sent;
  try {
    const to = { ...target, stream: names.log, subject: names.logSubject };
    let seq = 0;
    for await (const batch of batches) {
      const put = await putBatch(to, batch, seq);
      if (put === 'conflict')
        throw new LogError('log.unavailable', `${path}: another writer is in ${names.log}`);
      seq = put.lastSeq;
    }
    sent = await endWith(target, fresh, lastSeq);
    if (sent === 'conflict') throw overtaken(path);
  } catch (error) {
    await dropStreams(link, place, fresh);
    throw error;
  }
  if (sent !== 'stored') throw unknown(target, names, sent.unknown);
  await movePointer(link, place, fresh);
  await removeStreams(link, place, old);
}

function endWith(target: Target, fresh: Generation, afterSeq: number): Promise<Sent> {
  const { link, stream, subject, patienceMs } = target;
  const headers = writeReplaced(link.createHeaders(), fresh.id);
  const [id, data] = [`replaced.${fresh.id}`, JSON.stringify(fresh)];
  const isIt = ({ replaced }: { readonly replaced: string | null }): boolean =>
    replaced === fresh.id;
  return sendOnce(link, { stream, subject, id, data, headers, afterSeq, isIt }, patienceMs);
}

function overtaken(path: string): LogError {
  return new LogError(
    'log.diverged',
    `somebody wrote to ${path} meanwhile; nothing was changed, try again`,
    { path },
  );
}

function unknown({ path, stream, patienceMs }: Target, names: Names, cause: unknown): LogError {
  return new LogError(
    'log.unknown',
    `no NATS server answered for ${patienceMs / 1000} s whether the stream ${stream} of ${path} was replaced by ${names.log}; both are left: open the log again, which goes on with the one that counts. If that is ${stream}, remove ${names.log} and ${names.snapshots} (nats stream rm)`,
    { cause, path },
  );
}
