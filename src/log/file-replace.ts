/**
 * Storing other batches in a file log, all or nothing.
 *
 * The new segments are written beside the old ones; then one small file, renamed into place, says
 * which they are. That is the moment it happened: a crash before it leaves the old segments, a crash
 * after it is made good by the next opening, which finishes what that file says.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { GENESIS } from './batch.ts';
import { PRIVATE_FILE, replaceFile, syncDirectory } from './disk.ts';
import { markCompacted } from './file-format.ts';
import { segmentPath } from './file-tail.ts';
import type { Compacted, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { encodeRecordHeader, encodeSegmentHeader } from './segment.ts';

const NAME = 'compaction';
const FRESH = '.fresh';

interface Swap extends Compacted {
  /** Names of the segments that are to stay, while they are not all in their place. */
  readonly segments?: readonly string[];
}

export function readCompacted(dir: string): Compacted | null {
  const swap = readSwap(dir);
  return swap === null ? null : { through: swap.through, record: swap.record };
}

export async function replaceSegments(
  dir: string,
  batches: AsyncIterable<StoredBatch>,
  compacted: Compacted,
  segmentBytesMax: number,
): Promise<void> {
  const segments = await writeFresh(dir, batches, compacted.through, segmentBytesMax);
  // First: a program that knows nothing of this must not write to what will be replaced.
  markCompacted(dir);
  replaceFile(join(dir, NAME), `${JSON.stringify({ ...compacted, segments } satisfies Swap)}\n`);
  finishReplacing(dir);
}

/** Makes good what a crash broke off. To be called before anything else is read from the directory. */
export function finishReplacing(dir: string): void {
  const swap = readSwap(dir);
  if (swap?.segments === undefined) {
    for (const name of namesIn(dir, FRESH)) rmSync(join(dir, name), { force: true });
    return;
  }
  const { segments, ...compacted } = swap;
  for (const name of namesIn(dir, '.segment')) {
    if (!segments.includes(name)) rmSync(join(dir, name), { force: true });
  }
  for (const name of segments) {
    const fresh = join(dir, `${name}${FRESH}`);
    if (existsSync(fresh)) renameSync(fresh, join(dir, name));
  }
  syncDirectory(dir);
  replaceFile(join(dir, NAME), `${JSON.stringify(compacted)}\n`);
}

/** Who only reads cannot make good what was broken off. */
export function requireReplaced(dir: string): void {
  if (readSwap(dir)?.segments === undefined) return;
  throw new LogError(
    'log.unavailable',
    `a compaction of ${dir} was broken off; start the hub once, or run "synod log compact" again, and it is finished`,
    { path: dir },
  );
}

function readSwap(dir: string): Swap | null {
  const path = join(dir, NAME);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Swap) : null;
}

/** What lies above `through` begins a segment of its own: the chain is checked there on every start. */
async function writeFresh(
  dir: string,
  batches: AsyncIterable<StoredBatch>,
  through: number,
  segmentBytesMax: number,
): Promise<string[]> {
  const names: string[] = [];
  let handle: number | null = null;
  let size = 0;
  let previous = GENESIS;
  const finish = (): void => {
    if (handle === null) return;
    fsyncSync(handle);
    closeSync(handle);
    handle = null;
  };
  try {
    for await (const batch of batches) {
      if (handle === null || size >= segmentBytesMax || batch.first === through) {
        finish();
        const path = segmentPath(dir, batch.first);
        names.push(basename(path));
        handle = openSync(`${path}${FRESH}`, 'w', PRIVATE_FILE);
        size = writeWhole(handle, encodeSegmentHeader({ first: batch.first, previous }));
      }
      size += writeWhole(handle, encodeRecordHeader(batch));
      size += writeWhole(handle, batch.bytes);
      previous = batch.head;
    }
    finish();
  } catch (error) {
    if (handle !== null) closeSync(handle);
    for (const name of namesIn(dir, FRESH)) rmSync(join(dir, name), { force: true });
    throw error;
  }
  syncDirectory(dir);
  return names;
}

function writeWhole(handle: number, bytes: Uint8Array): number {
  for (let written = 0; written < bytes.byteLength; ) {
    written += writeSync(handle, bytes, written, bytes.byteLength - written);
  }
  return bytes.byteLength;
}

function namesIn(dir: string, end: string): string[] {
  return readdirSync(dir).filter((name) => name.endsWith(end));
}
