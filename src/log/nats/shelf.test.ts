import { expect, test } from 'vitest';
import type { Whole } from './message.ts';
import { Shelf } from './shelf.ts';

const KIB = 1_024;

function whole(firstSeq: number, bytes: number): Whole {
  const batch = { first: firstSeq, count: 1, bytes: new Uint8Array(bytes), head: '' };
  return { batch, firstSeq, lastSeq: firstSeq };
}

function shelfWith(bytesMax: number, wholes: readonly Whole[]): Shelf {
  const shelf = new Shelf(bytesMax);
  for (const one of wholes) shelf.put(one);
  return shelf;
}

function held(shelf: Shelf, upTo: number): number[] {
  return Array.from({ length: upTo }, (_, i) => i + 1).filter((seq) => shelf.has(seq));
}

test('[NL8] of what is at hand the newest stays, within its bytes', () => {
  const shelf = shelfWith(
    3 * KIB,
    [1, 2, 3, 4, 5].map((seq) => whole(seq, KIB)),
  );
  expect(held(shelf, 5)).toEqual([3, 4, 5]);
  expect(shelf.get(4)?.firstSeq).toBe(4);
  expect(shelf.get(1)).toBeUndefined();
});

test('[NL8] one that is larger than all may be is at hand until the next comes', () => {
  const shelf = shelfWith(KIB, [whole(1, 10), whole(2, 5 * KIB)]);
  expect(held(shelf, 2)).toEqual([2]);
  shelf.put(whole(3, 10));
  expect(held(shelf, 3)).toEqual([3]);
});

test('[NL8] what is put twice counts once, and what is taken away not at all', () => {
  const shelf = shelfWith(2 * KIB, [whole(1, KIB), whole(1, KIB), whole(2, KIB)]);
  expect(held(shelf, 2)).toEqual([1, 2]);
  shelf.take(1);
  shelf.take(1);
  shelf.put(whole(3, KIB));
  expect(held(shelf, 3)).toEqual([2, 3]);
});
