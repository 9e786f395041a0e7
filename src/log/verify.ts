/**
 * Does the log still say what was appended? If not: where does it first lie?
 *
 * Walks every stored batch: positions must follow on, every entry must match
 * its checksum, every head must follow from the one before [G8]. Below a compaction the same
 * holds but for batches with a dropped body, and all of them are held to the digest that its record,
 * an entry of the chain above, gives [G13]. Snapshots lie beside the chain: each must be one that an
 * entry names [H21]. It reads only, so it runs beside a hub at work on a log opened `readOnly`.
 */
import { createHash } from 'node:crypto';
import type { Pin } from './anchors.ts';
import { asBuffer, batchCount, chainHead, decodeBatch, firstBadEntry, GENESIS } from './batch.ts';
import { addToDigest, isStub } from './compact-digest.ts';
import type { Compacted, Log, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { digestSnapshot, NAMING_START, parseSnapshotName } from './snapshot-name.ts';

export type Verified =
  | {
      readonly ok: true;
      readonly length: number;
      readonly head: string;
      /** Up to where bodies were dropped, how many, and the head of the whole log there. */
      readonly compacted?: CompactionProof;
      /** Snapshots from before they were named: sound for all that is known, and never believed. */
      readonly unnamed?: readonly number[];
    }
  | {
      readonly ok: false;
      readonly position: number;
      readonly reason: string;
      /** What the log contradicts, where nothing is wrong with it by itself: an anchor. */
      readonly pinned?: string;
    };

export interface CompactionProof {
  readonly through: number;
  readonly head: string;
  readonly digest: string;
  readonly dropped: number;
}

type Problem = Extract<Verified, { ok: false }>;

type Chain = Pick<Log, 'batches' | 'length' | 'head'> & Partial<Pick<Log, 'compacted'>>;

/** The chain, the snapshots that lie beside it, and the heads that it must have. */
export async function verifyLog(log: Log, pins: readonly Pin[] = []): Promise<Verified> {
  // Before the chain is walked: a hub at work names a snapshot first and saves it then.
  const found = await findSnapshots(log);
  const walk = createWalk(log.compacted, new Set(pins.map(({ position }) => position)));
  const verified = await walkChain(log, walk);
  if (!verified.ok) return verified;
  const contradicted = holdTo(pins, walk);
  if (contradicted !== null) return contradicted;
  if (found.refused !== null) return broken(verified.length, found.refused);
  const unnamed: number[] = [];
  for (const { position, digest } of found.snapshots) {
    if (walk.names.has(`${position} ${digest}`)) continue;
    // From the first that was named on there is no innocent one without: the hub saves none.
    if (position >= walk.firstNamed) {
      return broken(
        position,
        'no entry names the snapshot here: somebody changed it or put it there',
      );
    }
    unnamed.push(position);
  }
  return unnamed.length === 0 ? verified : { ...verified, unnamed };
}

/** The chain alone; the log's own end is compared too, so rows missing at the tail of an open log are found. */
export function verifyChain(log: Chain): Promise<Verified> {
  return walkChain(log, createWalk(log.compacted ?? null));
}

async function walkChain(log: Chain, walk: Walk): Promise<Verified> {
  const end = { length: log.length, head: log.head };
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

/** The chain is whole; is it the one that somebody noted? The first pin that it contradicts is named. */
function holdTo(pins: readonly Pin[], walk: Walk): Problem | null {
  for (const { position, head, what } of pins) {
    if (position > walk.position) {
      const reason = `${walk.position} entries, ${what} says at least ${position}`;
      return { ...broken(walk.position, reason), pinned: what };
    }
    if (walk.headAt(position) === head) continue;
    const reason = `${what} says another head for the first ${position} entries: the chain was changed before that`;
    return { ...broken(position, reason), pinned: what };
  }
  return null;
}

interface FoundSnapshots {
  readonly snapshots: readonly { readonly position: number; readonly digest: string }[];
  /** Why the first that is not of this log is not. */
  readonly refused: string | null;
}

async function findSnapshots(log: Log): Promise<FoundSnapshots> {
  const snapshots: { position: number; digest: string }[] = [];
  let refused: string | null = null;
  const onRefused = (why: LogError): void => {
    refused ??= why.message.slice(why.code.length + 2);
  };
  try {
    let snapshot = await log.loadSnapshot(onRefused);
    while (snapshot !== null) {
      snapshots.push({ position: snapshot.position, digest: await digestSnapshot(snapshot) });
      snapshot = await log.loadSnapshot(onRefused, snapshot.position - 1);
    }
    // Reading on from the end takes in how far a hub at work has come.
    for await (const _ of log.read(log.length));
  } catch (error) {
    if (!(error instanceof LogError) || error.code === 'log.closed') throw error;
    // In a damaged log; the walk says where, and if it finds nothing this is what is wrong.
    onRefused(error);
  }
  return { snapshots, refused };
}

export interface Walk {
  readonly position: number;
  /** Position and digest of every snapshot that an entry names. */
  readonly names: ReadonlySet<string>;
  /** The position of the first snapshot with a name; infinite where there is none. */
  readonly firstNamed: number;
  /** The head at one of the wanted positions; undefined where no append ended. */
  headAt(position: number): string | undefined;
  /** What is wrong with the next batch; null when nothing is. */
  take(batch: StoredBatch): Problem | null;
  finish(end: { readonly length: number; readonly head: string }): Verified;
}

export function createWalk(
  compacted: Compacted | null,
  wanted: ReadonlySet<number> = new Set(),
): Walk {
  const through = compacted?.through ?? 0;
  const digest = createHash('sha256');
  let position = 0;
  let head = GENESIS;
  let headThere = GENESIS;
  let proof: CompactionProof | null = null;
  const names = new Set<string>();
  const heads = new Map([[0, GENESIS]]);
  let firstNamed = Number.POSITIVE_INFINITY;

  function noteNames(batch: StoredBatch): void {
    if (!asBuffer(batch.bytes).includes(NAMING_START)) return;
    for (const entry of decodeBatch(batch.bytes)) {
      const name = parseSnapshotName(entry);
      if (name === null) continue;
      names.add(`${name.position} ${name.digest}`);
      firstNamed = Math.min(firstNamed, name.position);
    }
  }

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
    noteNames(batch);
    position += batch.count;
    if (wanted.has(position)) heads.set(position, head);
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
    names,
    headAt: (at) => heads.get(at),
    get firstNamed() {
      return firstNamed;
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
