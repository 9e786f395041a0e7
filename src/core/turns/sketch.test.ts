/** Near-duplicates are known by their sketches. */
import { expect, test } from 'vitest';
import { likeness, sketchOf } from './sketch.ts';

test('[TN14] a text with another number, time or id in it is the same, and another text is not', () => {
  const said = (n: number): string =>
    `Attempt ${n} at 12:0${n}: still waiting for the build of a1b2c3${n} to come back before going on.`;
  expect(likeness(sketchOf(said(1)), sketchOf(said(2)))).toBe(1);
  const other = 'The parser is done, its tests pass, and the branch is ready for a review now.';
  expect(likeness(sketchOf(said(1)), sketchOf(other))).toBeLessThan(0.3);
  expect(sketchOf('42 17')).toEqual([]);
  expect(likeness([], [])).toBe(0);
});
