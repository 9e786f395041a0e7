import { expect, test } from 'vitest';
import { createStderrRing, STDERR_LINE_BYTES_MAX, STDERR_NOTES_A_SECOND } from './stderr-ring.ts';

function listen(linesKept: number, now = () => 0) {
  const told: string[] = [];
  return { told, ring: createStderrRing(linesKept, (text) => told.push(text), now) };
}

test('[WO12] the last lines are kept, wherever the chunks were cut', () => {
  const bytes = Buffer.from('one\r\ntwo grüße\n\nthree\nfour');
  for (let at = 0; at <= bytes.length; at += 1) {
    const { told, ring } = listen(3);
    ring.push(bytes.subarray(0, at));
    ring.push(bytes.subarray(at));
    ring.end();
    expect(ring.tail()).toEqual(['two grüße', 'three', 'four']);
    expect(told).toEqual(['one', 'two grüße', 'three', 'four']);
  }
  const { ring } = listen(0);
  ring.push(bytes);
  expect(ring.tail()).toEqual([]);
});

test('[WO12] a line is cut at its bound, and one without end takes no more memory than that', () => {
  const { told, ring } = listen(3);
  for (let n = 0; n < 1_000; n += 1) ring.push(Buffer.alloc(10_000, 'x'));
  ring.push(Buffer.from('\nnext\n'));
  expect(ring.tail()).toEqual([`${'x'.repeat(STDERR_LINE_BYTES_MAX)}…`, 'next']);
  expect(told).toHaveLength(2);
});

test('[WO12] nothing a terminal would obey gets into the log', () => {
  const { ring } = listen(3);
  ring.push(Buffer.from('\x1b[31mred\x1b[0m\x07 \u202eback\tx\u2028y\n'));
  expect(ring.tail()).toEqual(['red\\u{7} \\u{202e}back x\\u{2028}y']);
});

test('[WO12] so many lines in a second are passed on; the others are counted, and kept', () => {
  let now = 0;
  const { told, ring } = listen(2, () => now);
  ring.push(Buffer.from('line\n'.repeat(STDERR_NOTES_A_SECOND + 7)));
  expect(told).toHaveLength(STDERR_NOTES_A_SECOND);
  now = 1_000;
  ring.push(Buffer.from('late\n'));
  expect(told.slice(STDERR_NOTES_A_SECOND)).toEqual([
    '(7 more lines were left out of the log)',
    'late',
  ]);
  expect(ring.tail()).toEqual(['line', 'late']);
});
