/**
 * Between a place on the slider and a position of the log. The slider runs in time, so that an hour looks like
 * an hour; within a slice the entries are taken to lie evenly. Pure.
 */

export interface Span {
  readonly length: number;
  /** Where the first slice begins and the last one ends; null while there is no entry. */
  readonly from: number | null;
  readonly to: number | null;
  readonly entries: readonly number[];
  /** The position at the end of each slice. */
  readonly positions: readonly number[];
}

/** The position at a part of the way, 0 to 1; null is now. */
export function positionAt({ length, entries, positions }: Span, part: number): number | null {
  const count = positions.length;
  if (count === 0 || part >= 1) return null;
  const at = Math.max(0, part) * count;
  const slice = Math.min(count - 1, Math.floor(at));
  const end = positions[slice] as number;
  const begin = end - (entries[slice] ?? 0);
  const position = Math.round(begin + (at - slice) * (end - begin));
  return position >= length ? null : position;
}

/** Where a position stands on the slider, 0 to 1. */
export function partOf({ entries, positions }: Span, position: number | null): number {
  const count = positions.length;
  if (position === null || count === 0) return 1;
  const slice = positions.findIndex((end) => end >= position);
  if (slice < 0) return 1;
  const end = positions[slice] as number;
  const own = entries[slice] ?? 0;
  const within = own === 0 ? 1 : Math.max(0, 1 - (end - position) / own);
  return (slice + within) / count;
}

/** One step to and fro; past the last entry is now. */
export function stepFrom({ length }: Span, position: number | null, by: number): number | null {
  const next = Math.max(0, (position ?? length) + by);
  return next >= length ? null : next;
}

/** The heights of the bars behind the slider, 0 to 1; a quiet minute is still seen beside a storm. */
export function barsOf({ entries }: Span): number[] {
  const most = Math.max(1, ...entries);
  return entries.map((count) => (count === 0 ? 0 : Math.max(0.08, Math.sqrt(count / most))));
}
