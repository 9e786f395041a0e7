import fc from 'fast-check';
import { expect, test } from 'vitest';
import { barsOf, partOf, positionAt, stepFrom } from './time-scale.ts';

/** Ten entries before, then slices of 4, 0, 6 and 10. */
const SPAN = {
  length: 30,
  from: 100,
  to: 140,
  entries: [4, 0, 6, 10],
  positions: [14, 14, 20, 30],
};

test('the left edge is where the first slice begins, the right edge is now', () => {
  expect(positionAt(SPAN, 0)).toBe(10);
  expect(positionAt(SPAN, -1)).toBe(10);
  expect(positionAt(SPAN, 1)).toBe(null);
  expect(positionAt({ ...SPAN, entries: [], positions: [], length: 0 }, 0.5)).toBe(null);
});

test('within a slice the entries lie evenly, and a quiet one moves nothing', () => {
  expect([0.125, 0.25, 0.4, 0.5, 0.625].map((part) => positionAt(SPAN, part))).toEqual([
    12, 14, 14, 14, 17,
  ]);
});

test('a position stands where it was chosen', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 29 }), (position) => {
      expect(positionAt(SPAN, partOf(SPAN, position)) ?? 30).toBe(position);
    }),
  );
  expect(partOf(SPAN, null)).toBe(1);
});

test('a step goes one entry to and fro, and ends at now and at the beginning', () => {
  expect(stepFrom(SPAN, null, -1)).toBe(29);
  expect(stepFrom(SPAN, 29, 1)).toBe(null);
  expect(stepFrom(SPAN, 0, -1)).toBe(0);
});

test('a quiet slice is seen beside a storm, and an empty one is empty', () => {
  expect(barsOf({ ...SPAN, entries: [1, 0, 10_000] })).toEqual([0.08, 0, 1]);
});
