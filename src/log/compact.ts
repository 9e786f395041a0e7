/**
 * Compaction: old bodies go, positions and the chain stay.
 *
 * Every batch keeps its place, its number of entries and the head it had; only the text of dropped
 * entries is another. Their heads can no longer be made from their bytes, so one entry is appended
 * that is: it records up to where, the head there, and a digest of every batch as it lies now. That
 * entry is in the unbroken chain, so a changed byte below is found like one above [G13], and whoever
 * kept the old log can show that it led to the recorded head [G14].
 */
import { createHash } from 'node:crypto';
import { decodeBatch, encodeBatch, GENESIS } from './batch.ts';
import { addToDigest } from './compact-digest.ts';
import { type Log, LogError, type StoredBatch } from './log.ts';
import { verifyChain } from './verify.ts';

/** What stays of an entry, or null when all of it does. The same answer each time it is asked. */
export type Rewrite = (entry: string, position: number) => string | null;

/** What the record says; `head` is the chain head at `through` entries. */
export interface CompactionFacts {
  readonly through: number;
  readonly head: string;
  /** SHA-256 over all batches below `through` as they are stored now. */
  readonly digest: string;
  readonly dropped: number;
  /** SHA-256 over the dropped entries as they were. */
  readonly droppedDigest: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** What compacting would do; nothing is changed. A log that does not verify is refused. */
export async function measureCompaction(log: Log, rewrite: Rewrite): Promise<CompactionFacts> {
  const verified = await verifyChain(log);
  if (!verified.ok) {
    throw new LogError(
      'log.corrupt',
      `the log does not verify at position ${verified.position} (${verified.reason}); nothing was changed: restore it from a copy or an export first`,
    );
  }
  const { length: through, head } = log;
  const digest = createHash('sha256');
  const gone = createHash('sha256');
  let dropped = 0;
  let bytesBefore = 0;
  let bytesAfter = 0;
  for await (const batch of log.batches(0)) {
    bytesBefore += batch.bytes.byteLength;
    const rewritten = rewriteBatch(batch, rewrite, (entry) => {
      dropped++;
      gone.update(entry).update('\n');
    });
    bytesAfter += rewritten.bytes.byteLength;
    addToDigest(digest, rewritten);
  }
  const droppedDigest = gone.digest('hex');
  return {
    through,
    head,
    digest: digest.digest('hex'),
    dropped,
    droppedDigest,
    bytesBefore,
    bytesAfter,
  };
}

/** Does it. The log is closed then; with nothing to drop it is left open and as it was. */
export async function compactLog(
  log: Log,
  rewrite: Rewrite,
  record: (facts: CompactionFacts) => string,
): Promise<CompactionFacts> {
  const facts = await measureCompaction(log, rewrite);
  const { through, head } = facts;
  if (facts.dropped === 0) return facts;
  const { bytes, head: after } = encodeBatch([record(facts)], head);
  async function* batches(): AsyncGenerator<StoredBatch> {
    for await (const batch of log.batches(0)) yield rewriteBatch(batch, rewrite, () => {});
    yield { first: through, count: 1, bytes, head: after };
  }
  await log.replace(through, batches(), { through, record: through });
  return facts;
}

function rewriteBatch(
  batch: StoredBatch,
  rewrite: Rewrite,
  onDropped: (entry: string) => void,
): StoredBatch {
  const entries = decodeBatch(batch.bytes);
  let isChanged = false;
  const kept = entries.map((entry, i) => {
    const stub = rewrite(entry, batch.first + i);
    if (stub === null) return entry;
    isChanged = true;
    onDropped(entry);
    return stub;
  });
  return isChanged ? { ...batch, bytes: encodeBatch(kept, GENESIS).bytes } : batch;
}
