/**
 * The log as plain files: append-only segments in one directory.
 *
 * A record is written and synced once per append; a write that fails is taken
 * back, and if even that fails the log is poisoned and takes no more [G9]. Which
 * bytes are the end is decided on open, in file-tail.ts. A directory that is
 * corrupt or newer is refused and left as it is.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { BatchStorage, Tail } from './batch-log.ts';
import { lookOften, openBatchLog } from './batch-log.ts';
import { makePrivateDirectory, PRIVATE_FILE, syncDirectory, unavailable } from './disk.ts';
import { requireFormat } from './file-format.ts';
import { createFileReader } from './file-reader.ts';
import {
  finishReplacing,
  readCompacted,
  replaceSegments,
  requireReplaced,
} from './file-replace.ts';
import { createFileSnapshots } from './file-snapshots.ts';
import { lookForTail, recoverTail, segmentPath } from './file-tail.ts';
import type { Log, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { encodeRecordHeader, encodeSegmentHeader, SEGMENT_HEADER_BYTES } from './segment.ts';
import { createSegmentIndex } from './segment-index.ts';

export interface FileLogOptions {
  /** Opens beside a running hub, for verify and export: writes nothing, cuts nothing, refuses no damage. */
  readonly readOnly?: boolean;
  /** A segment that has reached this size is followed by a new one. */
  readonly segmentBytesMax?: number;
}

const SEGMENT_BYTES_MAX = 64 << 20;
/** How long a half-written record may take to become whole before it counts as damage. */
const SETTLE_STEP_MS = 10;
const SETTLE_STEPS = 5;

export async function openFileLog(dir: string, options: FileLogOptions = {}): Promise<Log> {
  try {
    return openBatchLog(openStorage(dir, options));
  } catch (error) {
    throw unavailable(dir, 'open', error);
  }
}

function openStorage(dir: string, options: FileLogOptions): BatchStorage {
  const readOnly = options.readOnly ?? false;
  const segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
  if (!readOnly) makePrivateDirectory(dir);
  requireFormat(dir, readOnly);
  if (readOnly) requireReplaced(dir);
  else finishReplacing(dir);

  const opened = readOnly ? lookForTail(dir) : recoverTail(dir);
  const { damage, firsts } = opened;
  let { handle } = opened;
  let { index, offset } = opened.scanned;
  let tail: Tail = { length: opened.scanned.length, head: opened.scanned.head };
  let poison: unknown = null;
  const snapshots = createFileSnapshots(dir);
  if (!readOnly) snapshots.removeDrafts();
  const reader = createFileReader(dir, firsts, () => ({ handle, index, offset }));

  /** Whether another opening of this directory has written behind our back. */
  function hasMoved(): boolean {
    if (handle !== null && fstatSync(handle).size !== offset) return true;
    return firsts.at(-1) !== tail.length && existsSync(segmentPath(dir, tail.length));
  }

  /** Starts the next segment and answers its handle; null when another opening has started it. */
  function roll(): number | null {
    const path = segmentPath(dir, tail.length);
    let fresh: number;
    try {
      fresh = openSync(path, 'wx+', PRIVATE_FILE);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
      throw error;
    }
    try {
      writeAll(fresh, [encodeSegmentHeader({ first: tail.length, previous: tail.head })], 0);
      fdatasyncSync(fresh);
      syncDirectory(dir);
    } catch (error) {
      closeSync(fresh);
      undo(() => rmSync(path));
      throw error;
    }
    if (handle !== null) closeSync(handle);
    reader.adopt(firsts.at(-1) ?? 0, index);
    handle = fresh;
    offset = SEGMENT_HEADER_BYTES;
    index = createSegmentIndex(tail.length);
    firsts.push(tail.length);
    return fresh;
  }

  /** Takes back a write that failed; one that cannot be taken back ends the log's life as a writer. */
  function undo(work: () => void): void {
    try {
      work();
    } catch (error) {
      poison = error;
    }
  }

  function write(batch: StoredBatch): boolean {
    if (poison !== null) {
      throw new LogError(
        'log.unavailable',
        `${dir} takes no more appends since a failed write could not be taken back; restart to recover what was acknowledged`,
        { cause: poison, path: dir },
      );
    }
    if (hasMoved()) return false;
    const target = handle === null || offset >= segmentBytesMax ? roll() : handle;
    if (target === null) return false;
    const header = encodeRecordHeader(batch);
    try {
      writeAll(target, [header, batch.bytes], offset);
      fdatasyncSync(target);
    } catch (error) {
      undo(() => {
        ftruncateSync(target, offset);
        fdatasyncSync(target);
      });
      throw poison === null ? error : notTakenBack(dir, error);
    }
    const size = header.length + batch.bytes.byteLength;
    index.add({ first: batch.first, offset });
    offset += size;
    tail = { length: batch.first + batch.count, head: batch.head };
    return true;
  }

  /** Follows another opening to where it has come. A record it is still writing is not a torn one. */
  function refresh(): Tail {
    if (poison !== null || !hasMoved()) return tail;
    const moved = lookForTail(dir, readOnly ? 'r' : 'r+');
    if (handle !== null) closeSync(handle);
    handle = moved.handle;
    ({ index, offset } = moved.scanned);
    tail = { length: moved.scanned.length, head: moved.scanned.head };
    firsts.splice(0, firsts.length, ...moved.firsts);
    reader.forget();
    return tail;
  }

  /** A hub at work may have been in the middle of a write when we looked: give it time to finish. */
  async function requireWhole(damage: LogError): Promise<void> {
    for (let step = 0; step < SETTLE_STEPS; step++) {
      const now = lookForTail(dir);
      if (now.handle !== null) closeSync(now.handle);
      if (now.damage === null || now.scanned.length > tail.length) return;
      await pause(SETTLE_STEP_MS);
    }
    throw damage;
  }

  return {
    path: dir,
    tail: () => tail,
    refresh: () => guard(dir, 'read', refresh),
    watch: lookOften,
    write: (batch) => guard(dir, 'append to', () => write(batch)),
    load: (position, limit) => guard(dir, 'read', () => reader.load(position, limit)),
    saveSnapshot: snapshots.save,
    snapshots: snapshots.stored,
    breathe: () => nextTurn(),
    compacted: () => readCompacted(dir),
    async replace(batches, compacted) {
      try {
        await replaceSegments(dir, batches, compacted, segmentBytesMax);
      } catch (error) {
        throw unavailable(dir, 'compact', error);
      }
    },
    ...(damage === null ? {} : { requireWhole: () => requireWhole(damage) }),
    close() {
      reader.forget();
      if (handle !== null) closeSync(handle);
      handle = null;
    },
  };
}

function notTakenBack(dir: string, cause: unknown): LogError {
  return new LogError(
    'log.unknown',
    `cannot append to ${dir}, and the failed write could not be taken back: the next start tells whether it is stored`,
    { cause, path: dir },
  );
}

function writeAll(handle: number, parts: readonly Uint8Array[], offset: number): void {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  let written = writevSync(handle, parts as Uint8Array[], offset);
  if (written === size) return;
  // A short write is what a filling disk does first; the next one says why.
  const whole = Buffer.concat(parts);
  while (written < size)
    written += writeSync(handle, whole, written, size - written, offset + written);
}

function guard<Result>(path: string, tried: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw unavailable(path, tried, error);
  }
}
