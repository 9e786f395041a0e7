/**
 * Does the log still say what was appended? If not: where does it first lie?
 *
 * Walks every stored batch: positions must follow on, every entry must match
 * its checksum, every head must follow from the one before [G8]. Below a compaction the same
 * holds but for batches with a dropped body, and all of them are held to the digest that its record,
 * an entry of the chain above, gives [G13]. It reads only, so it runs beside a hub at work on a log
 * opened `readOnly`.
 */
import { createHash } from 'node:crypto';
import { batchCount, chainHead, decodeBatch, firstBadEntry, GENESIS } from './batch.ts';
import { addToDigest, isStub } from './compact-digest.ts';
import type { Compacted, Log, StoredBatch } from './log.ts';
import { LogError } from './log.ts';

export type Verified =
  | {
      readonly ok: true;
      readonly length: number;
      readonly head: string;
      /** Up to where bodies were dropped, how many, and the head of the whole log there. */
      readonly compacted?: CompactionProof;
    }
  | { readonly ok: false; readonly position: number; readonly reason: string };

export interface CompactionProof {
  readonly through: number;
  readonly head: string;
  readonly digest: string;
  readonly dropped: number;
}

type Problem = Extract<Verified, { ok: false }>;

/** The log's own end is compared too, so rows missing at the tail of an open log are found. */
export async function verifyLog(
  log: Pick<Log, 'batches' | 'length' | 'head'> & Partial<Pick<Log, 'compacted'>>,
): Promise<Verified> {
  const end = { length: log.length, head: log.head };
  const walk = createWalk(log.compacted ?? null);
  try {
    for await (const batch of log.batches(0)) {
      const problem = walk.take(batch);
      if (problem !== null) return problem;
    }
  } catch (error) {
    if (!(error instanceof LogError) || error.code === 'log.closed') throw error;
    return broken(walk.position, error.message);
  }
  return walk.finish(end);
}

export interface Walk {
  readonly position: number;
  /** What is wrong with the next batch; null when nothing is. */
  take(batch: StoredBatch): Problem | null;
  finish(end: { readonly length: number; readonly head: string }): Verified;
}

export function createWalk(compacted: Compacted | null): Walk {
  const through = compacted?.through ?? 0;
  const digest = createHash('sha256');
  let position = 0;
  let head = GENESIS;
  let headThere = GENESIS;
  let proof: CompactionProof | null = null;

  function take(batch: StoredBatch): Problem | null {
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
    const isCompacted = batch.first < through;
    const isFollowing = chainHead(head, batch.bytes) === batch.head;
    // Only where a body was dropped may a kept head not be that of the bytes: nothing else is a compaction.
    if (!isFollowing && !(isCompacted && decodeBatch(batch.bytes).some(isStub))) {
      return broken(position, 'the chain is broken: this batch or one before it was changed');
    }
    head = batch.head;
    if (isCompacted) {
      addToDigest(digest, batch);
      headThere = head;
    }
    position += batch.count;
    if (compacted !== null && proof === null && position > compacted.record) {
      proof = parseProof(decodeBatch(batch.bytes)[compacted.record - batch.first]);
    }
    return null;
  }

  function finish(end: { readonly length: number; readonly head: string }): Verified {
    if (position !== end.length)
      return broken(position, `the log should hold ${end.length} entries`);
    if (head !== end.head) return broken(position, 'the log ends with another head than it says');
    if (compacted === null) return { ok: true, length: position, head };
    if (proof === null || compacted.record < through || proof.through !== through) {
      return broken(compacted.record, 'the record of its compaction is not there');
    }
    if (proof.head !== headThere || proof.digest !== digest.digest('hex')) {
      return broken(0, `what lies below position ${through} is not what its compaction recorded`);
    }
    return { ok: true, length: position, head, compacted: proof };
  }

  return {
    get position() {
      return position;
    },
    take,
    finish,
  };
}

/** What a record of a compaction claims; null when the entry is none. */
export function parseProof(entry: string | undefined): CompactionProof | null {
  try {
    const { facts } = JSON.parse(entry ?? 'null') as { facts: CompactionProof };
    const { through, head, digest, dropped } = facts;
    const isWhole = typeof through === 'number' && typeof dropped === 'number';
    return isWhole && typeof head === 'string' && typeof digest === 'string'
      ? { through, head, digest, dropped }
      : null;
  } catch {
    // Whatever it is, it is no record of ours; the caller says so.
    return null;
  }
}

function broken(position: number, reason: string): Problem {
  return { ok: false, position, reason };
}
