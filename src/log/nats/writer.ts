/**
 * One batch put behind the sequence it was decided on, or not at all [G1] [G2]. An answer that does not come
 * says nothing about the write, so it is asked for again under the same id: the server stores it once, says
 * that it has it already, or that somebody else was there first [G9].
 */
import { setTimeout as wait } from 'node:timers/promises';
import { LogError, type StoredBatch } from '../log.ts';
import { compress } from './compressed.ts';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';
import { type Label, partsOf, readMessage, writeLabel } from './message.ts';

export interface Target {
  readonly link: Link;
  readonly stream: string;
  readonly subject: string;
  /** What messages call the log. */
  readonly path: string;
  /** The opening that writes. */
  readonly by: string;
  /** Everybody who may read it reads what is compressed. */
  readonly mayCompress: () => boolean;
  /** How long an answer is waited for before it is said that nobody knows. */
  readonly patienceMs: number;
}

export type Put = { readonly lastSeq: number } | 'conflict';

const PAUSE_MS = 200;
/**
 * An answer that has not come by then is asked for again. The leader of a stream that was lost is followed by another
 * after four seconds at the earliest: what it took with it should be there again when that one begins.
 */
const ANSWER_MS = 2_000;

let count = 0;

export async function putBatch(target: Target, batch: StoredBatch, afterSeq: number): Promise<Put> {
  const compressed = target.mayCompress() ? compress(batch.bytes) : null;
  const plainBytes = compressed === null ? null : batch.bytes.byteLength;
  const parts = partsOf(compressed ?? batch.bytes, target.link.payloadMax);
  const number = ++count;
  let seq = afterSeq;
  for (const [i, data] of parts.entries()) {
    const label: Label = {
      ...{ first: batch.first, count: batch.count, head: batch.head, by: target.by },
      ...{ part: i + 1, parts: parts.length, plainBytes },
    };
    const id = `${target.by}.${number}.${i}`;
    // Parts before the last make no batch: what becomes of them changes nothing yet.
    const put = await putMessage(target, { label, id, data }, seq, i === parts.length - 1);
    if (put === 'conflict') return put;
    seq = put.lastSeq;
  }
  return { lastSeq: seq };
}

interface Outgoing {
  readonly label: Label;
  readonly id: string;
  readonly data: Uint8Array;
}

async function putMessage(
  target: Target,
  { label, id, data }: Outgoing,
  afterSeq: number,
  isLast: boolean,
): Promise<Put> {
  const { link, subject, patienceMs } = target;
  const deadline = performance.now() + patienceMs;
  let mayBeStored = false;
  for (;;) {
    try {
      const headers = writeLabel(link.createHeaders(), label);
      const expect = { lastSequence: afterSeq };
      const options = { msgID: id, headers, expect, timeout: ANSWER_MS };
      const { seq } = await link.js.publish(subject, data, options);
      return { lastSeq: seq };
    } catch (error) {
      const code = apiCode(error);
      if (code === API.wrongLastSequence) {
        if (!mayBeStored) return 'conflict';
        const whose = await whoseAt(target, label, afterSeq + 1, deadline);
        if (whose === null) throw isLast ? unknown(target, label, error) : error;
        return whose === 'ours' ? { lastSeq: afterSeq + 1 } : 'conflict';
      }
      // A refusal of the server's: it is not stored.
      if (code !== null) {
        if (!mayBeStored) throw error;
      } else mayBeStored = true;
      if (performance.now() < deadline && !link.connection.isClosed()) {
        await wait(PAUSE_MS);
        continue;
      }
      if (!isLast || !mayBeStored) throw error;
      throw unknown(target, label, error);
    }
  }
}

function unknown({ path, patienceMs }: Target, label: Label, cause: unknown): LogError {
  return new LogError(
    'log.unknown',
    `no NATS server answered for ${patienceMs / 1000} s whether ${path} has the entries from ${label.first} on`,
    { cause, path },
  );
}

/**
 * Is what lies there the part that we sent and heard nothing of? A server may count a message that it has not
 * stored yet, and it may be ours: an empty place is looked at again. Null when nobody could say in time.
 */
async function whoseAt(
  { link, stream }: Target,
  label: Label,
  seq: number,
  deadline: number,
): Promise<'ours' | 'theirs' | null> {
  do {
    const found = await link.manager.streams.getMessage(stream, { seq }).catch(() => null);
    if (found !== null) {
      const stored = readMessage(found).label;
      const isOurs =
        stored?.by === label.by && stored.head === label.head && stored.part === label.part;
      return isOurs ? 'ours' : 'theirs';
    }
    await wait(PAUSE_MS);
  } while (performance.now() < deadline && !link.connection.isClosed());
  return null;
}
