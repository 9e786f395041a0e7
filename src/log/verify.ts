/**
 * Does the log still say what was appended? If not: where does it first lie?
 *
 * Walks every stored batch: positions must follow on, every entry must match
 * its checksum, every head must follow from the one before [G8]. It reads only, so it runs
 * beside a hub at work on a log opened `readOnly`.
 */
import { batchCount, chainHead, firstBadEntry, GENESIS } from './batch.ts';
import type { Log } from './log.ts';
import { LogError } from './log.ts';

export type Verified =
  | { readonly ok: true; readonly length: number; readonly head: string }
  | { readonly ok: false; readonly position: number; readonly reason: string };

/** The log's own end is compared too, so rows missing at the tail of an open log are found. */
export async function verifyLog(log: Pick<Log, 'batches' | 'length' | 'head'>): Promise<Verified> {
  const end = { length: log.length, head: log.head };
  let position = 0;
  let head = GENESIS;
  const broken = (at: number, reason: string): Verified => ({ ok: false, position: at, reason });
  try {
    for await (const batch of log.batches(0)) {
      if (batch.first !== position) {
        const what = batch.first > position ? 'entries are missing' : 'entries are out of order';
        return broken(position, `${what}: the next stored batch starts at ${batch.first}`);
      }
      const bad = firstBadEntry(batch.bytes);
      if (bad !== null) {
        return broken(position + bad, 'the stored bytes do not match their checksum');
      }
      if (batchCount(batch.bytes) !== batch.count) {
        return broken(position, 'the batch does not hold as many entries as it is filed under');
      }
      head = chainHead(head, batch.bytes);
      if (head !== batch.head) {
        return broken(position, 'the chain is broken: this batch or one before it was changed');
      }
      position += batch.count;
    }
  } catch (error) {
    if (!(error instanceof LogError) || error.code === 'log.closed') throw error;
    return broken(position, error.message);
  }
  if (position !== end.length) return broken(position, `the log should hold ${end.length} entries`);
  if (head !== end.head) return broken(position, 'the log ends with another head than it says');
  return { ok: true, length: position, head };
}
