import { expect, test } from 'vitest';
import { endingOf, epochMs, quotaOf, saidReset } from './turn-ending.ts';

const NOW = new Date(2026, 10, 16, 0, 30).getTime();
const said = (finalText: string) =>
  endingOf({ finalText, sessionRef: null, cost: null, trouble: null }, ['m-1'], null);

test.each([
  ['The crash doesn’t exist any more, I cannot reproduce it.', 'done'],
  ['I give up. I am blocked and need a human.', 'done'],
  ['{"outcome":"gave_up"} was not what I meant', 'done'],
  ['{"outcome":"parked"}', 'done'],
  ['{"outcome":"gave_up","question":', 'done'],
  ['Nothing here.\n{"outcome":"nothing"}\n', 'nothing'],
  ['`{"outcome":"gave_up","question":"which?"}`', 'gave_up'],
  ['{"outcome":"gave_up"}', 'gave_up'],
])(
  '[RV2] %j ends the turn as %s: phrases decide nothing, a last line of JSON does',
  (text, outcome) => {
    const result = said(text);
    expect(result).toMatchObject({ outcome, consumed: ['m-1'] });
    if (outcome === 'gave_up') expect(result.question).toMatch(/\w/);
  },
);

test('[RV2] what is long is cut', () => {
  const long = said(
    `${'x'.repeat(10_000)}\n{"outcome":"gave_up","question":"${'y'.repeat(3_000)}"}`,
  );
  expect(long.note?.length).toBeLessThanOrEqual(500);
  expect(long.question?.length).toBeLessThanOrEqual(2_000);
});

test('[RV2] a reset is read where a vendor states it, and never guessed', () => {
  const at = (...time: [number, number, number, number, number]) => new Date(...time).getTime();
  expect(saidReset('limit reached, try again at 1:28 AM.', NOW)).toBe(at(2026, 10, 16, 1, 28));
  expect(saidReset('You’ve hit your limit · resets 12am', NOW)).toBe(at(2026, 10, 17, 0, 0));
  expect(saidReset('resets at 3pm', NOW)).toBe(at(2026, 10, 16, 15, 0));
  expect(saidReset('try again at Nov 20th, 2026 1:28 AM', NOW)).toBe(at(2026, 10, 20, 1, 28));
  expect(saidReset('try again later', NOW)).toBeNull();
  expect([epochMs(1_900_000_000), epochMs('1900000000'), epochMs(1.9e12)]).toEqual([
    1.9e12, 1.9e12, 1.9e12,
  ]);
  expect([epochMs('soon'), epochMs(null), epochMs(-1)]).toEqual([null, null, null]);
});

test('[RV2] of the statuses of an API, some are quota, some overload, the rest neither', () => {
  expect([429, 402].map((status) => quotaOf(status, 7))).toEqual([
    { kind: 'exhausted', until: 7 },
    { kind: 'exhausted', until: 7 },
  ]);
  expect([503, 529].map((status) => quotaOf(status, null)?.kind)).toEqual([
    'overloaded',
    'overloaded',
  ]);
  expect([0, 200, 400, 401, 500].map((status) => quotaOf(status, null))).toEqual(
    Array(5).fill(null),
  );
});
