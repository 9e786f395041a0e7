/**
 * Finding batches in the segments of a file log.
 *
 * Older segments are indexed when something in them is first asked for, so
 * opening a long log reads only its last segment. Bytes that are no record are
 * refused with the file and the position; they are never skipped.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { corrupt, segmentPath } from './file-tail.ts';
import type { StoredBatch } from './log.ts';
import type { SegmentReader } from './segment.ts';
import { createSegmentReader, readSegmentHeader } from './segment.ts';
import type { SegmentIndex } from './segment-index.ts';
import { lastAtOrBefore, scanSegment } from './segment-index.ts';

/** One load stops after this many bytes. */
const LOAD_BYTES_MAX = 1 << 17;

/** The segment being written: how far it goes is the writer's to say. */
interface OpenSegment {
  readonly handle: number | null;
  readonly index: SegmentIndex;
  readonly offset: number;
}

interface Reading {
  readonly first: number;
  readonly handle: number;
  readonly reader: SegmentReader;
  readonly index: SegmentIndex;
  readonly end: () => number;
  /** The open segment's handle belongs to the writer. */
  readonly isBorrowed: boolean;
}

export interface FileReader {
  load(position: number, limit: 'one' | 'many'): readonly StoredBatch[];
  /** Takes over the index of a segment that is written no more. */
  adopt(first: number, index: SegmentIndex): void;
  /** Lets go of open files, because the segments changed or the log closes. */
  forget(): void;
}

export function createFileReader(
  dir: string,
  firsts: readonly number[],
  open: () => OpenSegment,
): FileReader {
  const indexes = new Map<number, SegmentIndex>();
  let reading: Reading | null = null;

  function forget(): void {
    if (reading !== null && !reading.isBorrowed) closeSync(reading.handle);
    reading = null;
  }

  function readingOf(first: number): Reading {
    const { handle, index } = open();
    if (reading?.first === first && (!reading.isBorrowed || reading.handle === handle)) {
      return reading;
    }
    forget();
    if (first === firsts.at(-1) && handle !== null) {
      const end = (): number => open().offset;
      const reader = createSegmentReader(handle, end);
      reading = { first, handle, reader, index, end, isBorrowed: true };
      return reading;
    }
    reading = openOlder(first);
    return reading;
  }

  function openOlder(first: number): Reading {
    const path = segmentPath(dir, first);
    const handle = openSync(path, 'r');
    try {
      const header = readSegmentHeader(handle);
      if (header?.first !== first) throw corrupt(path, first, 'has a damaged header');
      const { size } = fstatSync(handle);
      const end = (): number => size;
      const reader = createSegmentReader(handle, end);
      const index = indexes.get(first) ?? scanSegment(reader, header, false).index;
      indexes.set(first, index);
      return { first, handle, reader, index, end, isBorrowed: false };
    } catch (error) {
      closeSync(handle);
      throw error;
    }
  }

  function load(position: number, limit: 'one' | 'many'): readonly StoredBatch[] {
    const segment = firsts[lastAtOrBefore(firsts, position)];
    if (segment === undefined) return [];
    const { reader, index, end } = readingOf(segment);
    const found: StoredBatch[] = [];
    let bytes = 0;
    let { first, offset } = index.find(position);
    while (offset < end()) {
      const place = reader.place(offset, first);
      if (place === null) {
        // What was found before the damage is still good; the next load comes here again and says so.
        if (found.length > 0) break;
        throw corrupt(segmentPath(dir, segment), first, `is damaged at byte ${offset}`);
      }
      first += place.count;
      offset += place.size;
      if (first <= position) continue;
      found.push(reader.batch(place));
      bytes += place.size;
      if (limit === 'one' || bytes >= LOAD_BYTES_MAX) break;
    }
    return found;
  }

  return {
    load,
    forget,
    adopt: (first, index) => indexes.set(first, index),
  };
}
