/**
 * Bounds that forget: nobody is refused there, the oldest make room. So that one agent cannot push out
 * what all others are remembered by, it is those who have the most who give up their oldest; whoever has
 * less keeps what it has [SH4]. A tenth goes at once, so that room is seldom made.
 */
import { count } from './shares.ts';

const PART = 10;

/** What is left when room was made. */
export function levelAfter(max: number): number {
  return max - Math.ceil(max / PART);
}

/** How many each gives up so that a tenth of the bound is free: all are cut to one level. */
export function quotas(counts: ReadonlyMap<string, number>, max: number): Map<string, number> {
  const wanted = max - levelAfter(max);
  const falling = [...counts.values()].sort((a, b) => b - a);
  let level = 0;
  let sum = 0;
  for (const [i, many] of falling.entries()) {
    sum += many;
    const freed = sum - (i + 1) * (falling[i + 1] ?? 0);
    if (freed < wanted) continue;
    level = Math.max(0, Math.floor((sum - wanted) / (i + 1)));
    break;
  }
  const over = [...counts].filter(([, many]) => many > level);
  return new Map(over.map(([owner, many]) => [owner, many - level]));
}

/** For evolve: keeps a map of the oldest first within its bound. */
export function makeRoom<K, V>(
  map: Map<K, V>,
  max: number,
  ownerOf: (key: K, value: V) => string,
): void {
  if (map.size <= max) return;
  const counts = new Map<string, number>();
  for (const [key, value] of map) count(counts, ownerOf(key, value), 1);
  const left = quotas(counts, max);
  for (const [key, value] of map) {
    // Where many have one each, a level is coarse: what is enough is enough.
    if (left.size === 0 || map.size <= levelAfter(max)) return;
    const owner = ownerOf(key, value);
    if (!left.has(owner)) continue;
    map.delete(key);
    count(left, owner, -1);
  }
}
