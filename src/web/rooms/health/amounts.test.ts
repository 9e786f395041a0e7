import { expect, test } from 'vitest';
import { bytesText, countText, durationText } from './amounts.ts';

test('bytes in the unit that leaves few digits', () => {
  expect([0, 900, 1_500, 80_000_000, 3e12].map(bytesText)).toEqual([
    '0 B',
    '900 B',
    '1.5 KB',
    '76 MB',
    '2.7 TB',
  ]);
});

test('durations from microseconds to days', () => {
  expect([0.25, 1.5, 42, 2_500, 90_000, 7_500_000, 1e8].map(durationText)).toEqual([
    '250 µs',
    '1.5 ms',
    '42 ms',
    '2.5 s',
    '1 min',
    '2 h 5 min',
    '1 d 3 h',
  ]);
});

test('counts', () => {
  expect([0, 0.4, 12.3, 980, 12_345].map(countText)).toEqual(['0', '0.4', '12', '980', '12 k']);
});
