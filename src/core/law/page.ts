/**
 * Pages: some rows of a list in a stable order, and where to go on. A page ends
 * at a number of rows or of bytes, whichever comes first, so that a list of any
 * length passes through a frame of any size; one row is always given.
 */

import { PAGE_BYTES_MAX, PAGE_ROWS_MAX } from '../work/work-limits.ts';
import { utf8Bytes } from './text.ts';

export interface PageBounds {
  /** Floor 1, ceiling `PAGE_ROWS_MAX`. */
  readonly limit?: number;
  readonly bytesMax?: number;
}

export interface Page<Row, Cursor> {
  readonly rows: readonly Row[];
  /** Ask again with this as `after`; null when the list has ended. */
  readonly next: Cursor | null;
}

export function takePage<Row, Cursor>(
  rows: Iterable<Row>,
  cursorOf: (row: Row) => Cursor,
  bounds: PageBounds,
): Page<Row, Cursor> {
  const wanted = bounds.limit ?? PAGE_ROWS_MAX;
  const limit = Number.isFinite(wanted)
    ? Math.min(Math.max(1, wanted), PAGE_ROWS_MAX)
    : PAGE_ROWS_MAX;
  let bytesLeft = bounds.bytesMax ?? PAGE_BYTES_MAX;
  const taken: Row[] = [];
  for (const row of rows) {
    const last = taken.at(-1);
    if (last !== undefined && taken.length >= limit) return { rows: taken, next: cursorOf(last) };
    bytesLeft -= utf8Bytes(JSON.stringify(row));
    if (last !== undefined && bytesLeft < 0) return { rows: taken, next: cursorOf(last) };
    taken.push(row);
  }
  return { rows: taken, next: null };
}

/** The first place in an ascending list that comes after the cursor. */
export function placeAfter(sorted: readonly string[], cursor: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}
