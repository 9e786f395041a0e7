/**
 * Where positions lie in one segment, sparsely.
 *
 * One point every 64 KiB of records, so memory grows with bytes stored (16 bytes
 * a point), not with entries, and a lookup reads at most one window before it
 * stands on the record it wants.
 */
import type { SegmentHeader, SegmentReader } from './segment.ts';
import { isSound, SEGMENT_HEADER_BYTES } from './segment.ts';

const POINT_EVERY_BYTES = 1 << 16;

export interface SegmentIndex {
  /** Notes a record; records come in order. */
  add(place: { readonly first: number; readonly offset: number }): void;
  /** The start of a record at or before `position`. */
  find(position: number): { readonly first: number; readonly offset: number };
}

export function createSegmentIndex(first: number): SegmentIndex {
  const firsts = [first];
  const offsets = [SEGMENT_HEADER_BYTES];
  let lastOffset = SEGMENT_HEADER_BYTES;
  return {
    add(place) {
      if (place.offset - lastOffset < POINT_EVERY_BYTES) return;
      lastOffset = place.offset;
      firsts.push(place.first);
      offsets.push(place.offset);
    },
    find(position) {
      const point = lastAtOrBefore(firsts, position);
      return { first: firsts[point] ?? first, offset: offsets[point] ?? SEGMENT_HEADER_BYTES };
    },
  };
}

/** The index of the last number in an ascending list that is not above `wanted`; -1 when all are. */
export function lastAtOrBefore(ascending: readonly number[], wanted: number): number {
  let low = 0;
  for (let high = ascending.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where a walk over a segment ended. */
export interface Scanned {
  readonly index: SegmentIndex;
  readonly length: number;
  readonly head: string;
  readonly offset: number;
}

/** Walks a segment to its end or to the first record that is not whole or, when `isChecked`, not sound. */
export function scanSegment(
  reader: SegmentReader,
  header: SegmentHeader,
  isChecked: boolean,
): Scanned {
  const index = createSegmentIndex(header.first);
  let length = header.first;
  let head = header.previous;
  let offset = SEGMENT_HEADER_BYTES;
  for (;;) {
    const place = reader.place(offset, length);
    if (place === null || (isChecked && !isSound(reader.batch(place), head))) break;
    head = place.head;
    index.add(place);
    length += place.count;
    offset += place.size;
  }
  return { index, length, head, offset };
}
