/**
 * Finding the end of a file log when it is opened.
 *
 * The last segment is walked with every checksum and link compared. A last
 * record that is cut short or bad, with nothing sound behind it, is a torn tail:
 * its bytes are saved aside and cut [G7]. A bad record with sound ones behind it
 * was once whole, so the log is corrupt: it is refused and left as it is.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { GENESIS } from './batch.ts';
import { replaceFile, syncDirectory } from './disk.ts';
import { LogError } from './log.ts';
import { createSegmentReader, findSoundRecord, readSegmentHeader } from './segment.ts';
import type { Scanned } from './segment-index.ts';
import { createSegmentIndex, scanSegment } from './segment-index.ts';

const UNFINISHED =
  'ends in a record that is cut short or damaged, which the next start of the hub saves aside and cuts if nothing sound lies behind it';
const SEGMENT_NAME = /^(\d{16})\.segment$/;

export interface FileTail {
  /** First positions of all segments, ascending; the last one is the open one. */
  readonly firsts: number[];
  /** The open segment; null when there is none yet. */
  readonly handle: number | null;
  readonly scanned: Scanned;
  /** Why bytes behind the tail are no record; only when looking, which cuts nothing. */
  readonly damage: LogError | null;
}

export function segmentPath(dir: string, first: number): string {
  return join(dir, `${String(first).padStart(16, '0')}.segment`);
}

function listSegments(dir: string): number[] {
  const numbers = readdirSync(dir).flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

/** The tail as it lies: nothing is cut or refused, and content is left for verify to judge. */
export function lookForTail(
  dir: string,
  flags: 'r' | 'r+' = 'r',
  firsts: number[] = listSegments(dir),
): FileTail {
  const first = firsts.at(-1);
  if (first === undefined) return emptyTail();
  const path = segmentPath(dir, first);
  const handle = openSync(path, flags);
  const header = readSegmentHeader(handle);
  if (header?.first !== first) {
    closeSync(handle);
    const damage = corrupt(path, first, 'has a damaged header');
    return { ...lookForTail(dir, flags, firsts.slice(0, -1)), damage };
  }
  const { size } = fstatSync(handle);
  const reader = createSegmentReader(handle, () => size);
  const scanned = scanSegment(reader, header, false);
  const damage = scanned.offset === size ? null : corrupt(path, scanned.length, UNFINISHED);
  return { firsts, handle, scanned, damage };
}

/** The tail that may be written behind: checked, and cut where a crash tore it. */
export function recoverTail(dir: string): FileTail {
  const firsts = listSegments(dir);
  const first = firsts.at(-1);
  if (first === undefined) return emptyTail();
  if (firsts[0] !== 0) {
    throw corrupt(segmentPath(dir, 0), 0, 'is missing though later segments are there');
  }
  const path = segmentPath(dir, first);
  const handle = openSync(path, 'r+');
  let scanned: Scanned | null;
  try {
    scanned = recoverSegment(path, handle, first);
  } catch (error) {
    closeSync(handle);
    throw error;
  }
  if (scanned !== null) return { firsts, handle, scanned, damage: null };
  closeSync(handle);
  rmSync(path);
  syncDirectory(dir);
  return recoverTail(dir);
}

/** Walks the last segment and cuts a torn tail; null when a crash left it without even a header. */
function recoverSegment(path: string, handle: number, first: number): Scanned | null {
  const { size } = fstatSync(handle);
  const header = readSegmentHeader(handle);
  if (header !== null && header.first !== first) {
    throw corrupt(path, first, 'carries the name of another segment');
  }
  if (header === null) {
    if (findSoundRecord(handle, 0, size) !== null)
      throw corrupt(path, first, 'has a damaged header');
    saveAside(path, handle, 0, size);
    return null;
  }
  const reader = createSegmentReader(handle, () => size);
  const scanned = scanSegment(reader, header, true);
  if (scanned.offset < size) {
    if (findSoundRecord(handle, scanned.offset + 1, size) !== null) {
      throw corrupt(path, scanned.length, `is damaged at byte ${scanned.offset}`);
    }
    saveAside(path, handle, scanned.offset, size);
    ftruncateSync(handle, scanned.offset);
    fsyncSync(handle);
  }
  return scanned;
}

function saveAside(path: string, handle: number, from: number, end: number): void {
  const torn = createSegmentReader(handle, () => end).slice(from, end - from);
  replaceFile(`${path}.torn-${from}`, torn);
}

function emptyTail(): FileTail {
  const scanned = { index: createSegmentIndex(0), length: 0, head: GENESIS, offset: 0 };
  return { firsts: [], handle: null, scanned, damage: null };
}

export function corrupt(path: string, position: number, what: string): LogError {
  return new LogError(
    'log.corrupt',
    `${path} ${what} (position ${position}); nothing was changed: run "synod log verify", then restore ${basename(path)} from a copy, or import an export into a new directory`,
    { path },
  );
}
