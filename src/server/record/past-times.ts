/**
 * Where in the log a time lies. Entries are stored in the order of their stamps, but for a few that were
 * stamped before they had to wait: of those a neighbour may be found, and the answer says which it was.
 */
import { decodeEvent } from '../../core/law/entry.ts';
import type { PastLog } from '../../hub/past-hub.ts';
import type { Span, SpanAsked } from '../desk/past.ts';

/** Times that were looked up; what is stored never changes. */
const KNOWN_MAX = 50_000;

export interface PastTimes {
  /** How many entries were stored by then, among the first `length`. */
  positionAt(time: number, length: number): Promise<number>;
  /** The log in slices of time; an empty log has none. */
  span(asked: SpanAsked, length: number): Promise<Span>;
}

export function createPastTimes(log: Pick<PastLog, 'at'>): PastTimes {
  const known = new Map<number, number>();

  async function timeOf(position: number): Promise<number> {
    const found = known.get(position);
    if (found !== undefined) return found;
    const [entry = ''] = await log.at([position]);
    const { at } = decodeEvent(entry);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(position, at);
    return at;
  }

  /** Halves by powers of two, so that a longer log is searched at the same places and they are known. */
  async function positionAt(time: number, length: number): Promise<number> {
    let first = 0;
    for (let half = 2 ** Math.floor(Math.log2(length || 1)); half >= 1; half /= 2) {
      const middle = first + half - 1;
      if (middle < length && (await timeOf(middle)) <= time) first += half;
    }
    return first;
  }

  async function span({ buckets, ...asked }: SpanAsked, length: number): Promise<Span> {
    if (length === 0) {
      const nothing = { first: null, last: null, from: null, to: null };
      return { length, ...nothing, entries: [], positions: [] };
    }
    const first = await timeOf(0);
    const last = await timeOf(length - 1);
    const from = asked.from ?? first;
    const to = Math.max(from, asked.to ?? last);
    const entries: number[] = [];
    const positions: number[] = [];
    // What was stored at the very beginning belongs to the first slice.
    let before = asked.from === null ? 0 : await positionAt(from - 1, length);
    for (let i = 1; i <= buckets; i++) {
      const end = i === buckets ? to : from + ((to - from) * i) / buckets;
      const position = Math.max(before, await positionAt(end, length));
      entries.push(position - before);
      positions.push(position);
      before = position;
    }
    return { length, first, last, from, to, entries, positions };
  }

  return { positionAt, span };
}
