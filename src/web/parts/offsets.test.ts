import { expect, test } from 'vitest';
import { offsetsOf, rowAt } from './offsets.ts';

test('rows stand below each other by the heights that are known, and a guess for the others', () => {
  expect([...offsetsOf(['a', 'b', 'c'], new Map([['b', 50]]), 20)]).toEqual([0, 20, 70, 90]);
});

test('the row at a height is found, also above the first and below the last', () => {
  const offsets = offsetsOf(['a', 'b', 'c'], new Map([['b', 50]]), 20);
  expect([-5, 0, 19, 20, 69, 70, 900].map((px) => rowAt(offsets, px))).toEqual([
    0, 0, 0, 1, 1, 2, 2,
  ]);
  expect(rowAt(offsetsOf([], new Map(), 20), 100)).toBe(0);
});
