import { expect, test } from 'vitest';
import { isLivelock, likeness, SKETCH_KEPT, type Sketch, sketchOf } from './likeness.ts';

const sketch = (text: string): Sketch => sketchOf(text) ?? [];
const livelock = (...outputs: string[]): boolean => isLivelock(outputs.map(sketch));

test('[RA7] [TN14] an output with a running counter, a time or an id is the same again', () => {
  const lines = [
    'Build 17 failed at 12:03:44 (run 8f3a2b): the parser does not compile, trying once more',
    'Build 18 failed at 12:04:59 (run 11cc0d): the parser does not compile, trying once more',
    'Build 19 failed at 2026-11-16T12:05:02Z (run b00b1e5): the parser does not compile, trying once more',
  ];
  expect(likeness(sketch(lines[0] ?? ''), sketch(lines[1] ?? ''))).toBe(1);
  expect(livelock(...lines)).toBe(true);
  expect(livelock(...lines.slice(0, 2))).toBe(false);
});

test('[RA7] [TN14] different work in the same words of greeting is no livelock', () => {
  expect(
    livelock(
      'I took the parser and wrote its tests; two of them fail on empty input',
      'I took the printer and found the missing newline at the end of a table',
      'I took the lexer and it is done, the whole suite passes now',
    ),
  ).toBe(false);
});

test('[RA7] [TN14] three of the last eight are enough, whatever lies between them; older ones are forgotten', () => {
  const same = 'the tests fail because the server is not there, I will wait and try again';
  const other = (n: number): string =>
    `step ${'abcdefgh'[n]} of the plan: ${'one two three four five six seven'.split(' ').slice(n).join(' ')} done`;
  expect(livelock(same, other(0), other(1), same, other(2), other(3), other(4), same)).toBe(true);
  const far = [same, ...Array.from({ length: 7 }, (_, i) => other(i)), same, same];
  expect(livelock(...far)).toBe(false);
});

test('[RA7] [TN14] an output that says nothing has no sketch, and a long one has a bounded one', () => {
  expect(sketchOf('')).toBeNull();
  expect(sketchOf('42 12:00 8f3a2b')).toBeNull();
  const words = Array.from(
    { length: 5_000 },
    (_, i) => `w${String.fromCharCode(97 + (i % 26))}${'x'.repeat(i % 40)}`,
  );
  expect(sketch(words.join(' '))).toHaveLength(SKETCH_KEPT);
});

test('[RA7] [TN14] of long outputs too, one that differs in a word is alike and another text is not', () => {
  const text = (seed: number): string[] =>
    Array.from({ length: 600 }, (_, i) => {
      let n = (i + 1) * 7919 * (seed + 1);
      let word = '';
      for (let k = 0; k < 5; k++) {
        word += String.fromCharCode(97 + (n % 26));
        n = Math.floor(n / 7) + k;
      }
      return word;
    });
  const a = text(1);
  const changed = a.with(300, 'changed');
  expect(likeness(sketch(a.join(' ')), sketch(changed.join(' ')))).toBeGreaterThanOrEqual(0.9);
  expect(likeness(sketch(a.join(' ')), sketch(text(12).join(' ')))).toBeLessThan(0.5);
});
