/**
 * Where in the log a time lies. Entries are stored in the order of their stamps, but for a few that were
 * stamped before they had to wait: of those a neighbour may be found, and the answer says which it was.
 */
import { decodeEvent } from '../../core/law/entry.ts';
import type { PastLog } from '../../hub/past-hub.ts';
import type { Span, SpanAsked } from '../desk/past.ts';

/** How many entries were stored by then, among the first `length`; it is looked for from `low` on. */
export async function positionAt(
  log: PastLog,
  time: number,
  length: number,
  low = 0,
): Promise<number> {
  let first = low;
  let last = length;
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if ((await timeOf(log, middle)) <= time) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** The log in slices of time; an empty log has none. */
export async function spanOf(log: PastLog, asked: SpanAsked, length: number): Promise<Span> {
  const { buckets } = asked;
  if (length === 0) {
    const nothing = { first: null, last: null, from: null, to: null };
    return { length, ...nothing, entries: [], positions: [] };
  }
  const first = await timeOf(log, 0);
  const last = await timeOf(log, length - 1);
  const from = asked.from ?? first;
  const to = Math.max(from, asked.to ?? last);
  const entries: number[] = [];
  const positions: number[] = [];
  // What was stored at the very beginning belongs to the first slice.
  let before = asked.from === null ? 0 : await positionAt(log, from - 1, length);
  for (let i = 1; i <= buckets; i++) {
    const end = i === buckets ? to : from + ((to - from) * i) / buckets;
    const position = await positionAt(log, end, length, before);
    entries.push(position - before);
    positions.push(position);
    before = position;
  }
  return { length, first, last, from, to, entries, positions };
}

async function timeOf(log: PastLog, position: number): Promise<number> {
  const [entry = ''] = await log.at([position]);
  return decodeEvent(entry).at;
}
