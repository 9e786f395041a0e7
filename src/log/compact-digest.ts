/** The digest of batches as they lie: what a compaction records, and what verify compares it with. */
import type { Hash } from 'node:crypto';
import type { StoredBatch } from './log.ts';

/** Adds a batch as it is stored: its place, its head and its bytes. */
export function addToDigest(digest: Hash, { first, count, head, bytes }: StoredBatch): void {
  digest.update(`${first} ${count} ${head}\n`).update(bytes);
}
