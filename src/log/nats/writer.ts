/**
 * One batch put behind the sequence it was decided on, or not at all [G1] [G2]: in as many messages as the server's limit
 * asks for, of which each is stored before the next is sent.
 */
import { LogError, type StoredBatch } from '../log.ts';
import { compress } from './compressed.ts';
import type { Link } from './link.ts';
import { type Label, partsOf, type Stored, writeLabel } from './message.ts';
import { type Sent, sendOnce } from './send-once.ts';

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
    const sent = await putPart(target, label, `${target.by}.${number}.${i}`, data, seq);
    if (sent === 'conflict') return sent;
    if (sent !== 'stored') {
      // Parts before the last make no batch: what becomes of them changes nothing yet.
      if (label.part < label.parts) throw sent.unknown;
      throw unknown(target, label, sent.unknown);
    }
    seq++;
  }
  return { lastSeq: seq };
}

function putPart(
  { link, stream, subject, patienceMs }: Target,
  label: Label,
  id: string,
  data: Uint8Array,
  afterSeq: number,
): Promise<Sent> {
  const headers = writeLabel(link.createHeaders(), label);
  const isIt = ({ label: found }: Stored): boolean =>
    found?.by === label.by && found.head === label.head && found.part === label.part;
  return sendOnce(link, { stream, subject, id, data, headers, afterSeq, isIt }, patienceMs);
}

function unknown({ path, patienceMs }: Target, label: Label, cause: unknown): LogError {
  return new LogError(
    'log.unknown',
    `no NATS server answered for ${patienceMs / 1000} s whether ${path} has the entries from ${label.first} on`,
    { cause, path },
  );
}
