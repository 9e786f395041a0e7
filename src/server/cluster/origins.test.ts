import { expect, test } from 'vitest';
import { createOrigins, type Origins } from './origins.ts';

interface Second {
  readonly own?: number;
  readonly b?: number;
  readonly c?: number;
}

/** What it says after each of these seconds; the first look only begins. */
function say(origins: Origins, seconds: readonly Second[], from = 0): (string | null)[] {
  let length = from;
  origins.nearest(from, length);
  return seconds.map(({ own = 0, b = 0, c = 0 }, i) => {
    if (b > 0) origins.note('b', b);
    if (c > 0) origins.note('c', c);
    length += own + b + c;
    return origins.nearest(from + (i + 1) * 1_000, length);
  });
}

test('[SQ27] a busy space belongs where most of its commands come, seen twice', () => {
  const busy = { own: 100, b: 1_000 };
  expect(say(createOrigins('a'), [busy, busy, busy])).toEqual([null, 'b', 'b']);
  const halves = { b: 500, c: 400 };
  expect(say(createOrigins('a'), [halves, halves])).toEqual([null, 'b']);
  expect(say(createOrigins('a'), [{ own: 900 }, { own: 900 }])).toEqual([null, 'a']);
});

test('[SQ27] not for a few commands, not for a moment, and not where it is nearly as near already', () => {
  const few = { b: 90 };
  expect(say(createOrigins('a'), [few, few, few])).toEqual([null, null, null]);
  const [b, c] = [{ b: 1_000 }, { c: 1_000 }];
  expect(say(createOrigins('a'), [b, c, b, c])).toEqual([null, null, null, null]);
  const even = { own: 600, b: 1_000 };
  expect(say(createOrigins('a'), [even, even])).toEqual([null, 'a']);
});

test('[SQ27] a minute after its last busy second it is chosen by name again', () => {
  const origins = createOrigins('a');
  const busy = { b: 1_000 };
  const quiet = Array.from({ length: 61 }, () => ({}));
  const told = say(origins, [busy, busy, ...quiet]);
  expect(told.slice(0, 62)).toEqual([null, ...Array.from({ length: 61 }, () => 'b')]);
  expect(told.at(-1)).toBeNull();
  // What was counted before another sequenced it for a while does not count.
  origins.note('b', 1e6);
  expect(say(origins, [{ own: 500 }, { own: 500 }], 1e6)).toEqual([null, 'a']);
});
