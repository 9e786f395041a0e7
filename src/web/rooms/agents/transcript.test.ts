import { expect, test } from 'vitest';
import { LINES_SHOWN, mergeLines, type SaidLine } from './transcript.ts';

const line = (at: number, text: string): SaidLine => ({ at, from: 'out', text });

test('what was told twice is shown once, and what came since follows', () => {
  const kept = [line(1, 'one'), line(2, 'two'), line(2, 'also two')];
  const since = [line(2, 'two'), line(2, 'also two'), line(2, 'and this'), line(3, 'three')];
  expect(mergeLines(kept, since).map(({ text }) => text)).toEqual([
    'one',
    'two',
    'also two',
    'and this',
    'three',
  ]);
});

test('of very many lines the newest stay', () => {
  const many = Array.from({ length: 2_000 }, (_, i) => line(i, `${i}`));
  const merged = mergeLines([], many);
  expect(merged).toHaveLength(LINES_SHOWN);
  expect(merged.at(-1)?.text).toBe('1999');
});
