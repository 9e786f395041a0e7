import { expect, test } from 'vitest';
import { chartOf, roundUp } from './sparkline.ts';

const SIZE = { width: 100, height: 40, count: 5 };

test('the newest value is at the right edge, and the scale is round', () => {
  const { line, top } = chartOf([1, 3, 4], SIZE);
  expect(line).toBe('M50 32L75 16L100 8');
  expect(top).toBe(5);
});

test('where nothing was measured there is a gap, and the area is closed on both sides of it', () => {
  const { line, area } = chartOf([2, null, 2, 2], { ...SIZE, count: 4, topAtLeast: 4 });
  expect(line).toBe('M0 24M66.7 24L100 24');
  expect(area).toBe('M0 40L0 24L0 40ZM66.7 40L66.7 24L100 24L100 40Z');
});

test('nothing, and nothing but zeros, are drawn without a fault', () => {
  expect(chartOf([], SIZE)).toEqual({ line: '', area: '', top: 0 });
  expect(chartOf([0, 0], SIZE).line).toBe('M75 40L100 40');
  expect(chartOf([null, null], SIZE).line).toBe('');
});

test('the scale steps in ones, twos and fives', () => {
  expect([0, 0.3, 1, 1.2, 3, 7, 10, 4_200].map(roundUp)).toEqual([0, 0.5, 1, 2, 5, 10, 10, 5_000]);
});
