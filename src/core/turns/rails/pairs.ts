/**
 * How fast two agents talk to each other. More than the limit in a minute is a conversation that no
 * person follows: it goes on being delivered and wakes nobody [RA4]. A person's word in the
 * thread begins the count again [RA12].
 */
import type { FifoMap } from '../../law/fifo-map.ts';
import { PAIR_TIMES_KEPT, PAIRS_KEPT } from './bounds.ts';

export interface Pair {
  /** The thread they last spoke in. */
  readonly root: number;
  /** When they spoke within the last minute, oldest first. */
  readonly times: readonly number[];
}

export type PairBook = FifoMap<string, Pair>;

export const PAIR_MS = 60_000;

export function enterPair(
  book: PairBook,
  [a, b]: readonly [string, string],
  { at, root }: { readonly at: number; readonly root: number },
): void {
  const key = keyOf(a, b);
  const times = (book.get(key)?.times ?? []).filter((time) => time > at - PAIR_MS);
  // Those who spoke last are young again, so that a talkative pair is not the first to be forgotten.
  book.delete(key);
  if (book.size >= PAIRS_KEPT && book.oldest !== undefined) book.delete(book.oldest);
  book.set(key, { root, times: [...times, at].slice(-PAIR_TIMES_KEPT) });
}

export function countBetween(
  book: ReadonlyMap<string, Pair>,
  [a, b]: readonly [string, string],
  at: number,
): number {
  const times = book.get(keyOf(a, b))?.times ?? [];
  return times.filter((time) => time > at - PAIR_MS).length;
}

export function forgetPairsIn(book: PairBook, root: number): void {
  for (const [key, pair] of book) if (pair.root === root) book.delete(key);
}

function keyOf(a: string, b: string): string {
  return a < b ? `${a}\u0000${b}` : `${b}\u0000${a}`;
}
