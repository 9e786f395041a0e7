import { expect, test } from 'vitest';
import {
  beginSpan,
  checkDiary,
  clearDiary,
  createDiary,
  DAY_MS,
  type Diary,
  endSpan,
  TEN_MINUTES_MS,
} from './diary.ts';

const NO_COST = { usd: 0, tokens: 0 };

function ran(diary: Diary, at: number, ms = 1_000, cost = NO_COST): void {
  beginSpan(diary, at);
  endSpan(diary, { at: at + ms, cost, output: null });
}

test('[RA1] the eleventh turn in ten minutes waits until the first of them is ten minutes old', () => {
  const diary = createDiary();
  for (let i = 0; i < 10; i++) {
    expect(checkDiary(diary, {}, i * 10_000)).toBeNull();
    ran(diary, i * 10_000);
  }
  expect(checkDiary(diary, {}, 100_000)).toEqual({
    kind: 'wait',
    limit: 'turns_per_10_min',
    until: TEN_MINUTES_MS,
  });
  expect(checkDiary(diary, {}, TEN_MINUTES_MS)).toBeNull();
});

test('[RA1] an agent that waited for a window and fills it again is parked', () => {
  const diary = createDiary();
  for (let i = 0; i < 10; i++) ran(diary, i * 1_000);
  diary.waitedUntil = { turns_per_10_min: TEN_MINUTES_MS };
  for (let i = 0; i < 10; i++) ran(diary, TEN_MINUTES_MS + 9_000 + i * 1_000);
  expect(checkDiary(diary, {}, TEN_MINUTES_MS + 30_000)).toMatchObject({
    kind: 'park',
    limit: 'turns_per_10_min',
  });
  clearDiary(diary);
  expect(checkDiary(diary, {}, TEN_MINUTES_MS + 30_000)).toMatchObject({
    kind: 'wait',
  });
});

test('[RA1] [RA6] [RA8] turns, wall time, money and tokens of a day', () => {
  const diary = createDiary();
  for (let i = 0; i < 4; i++) ran(diary, i * TEN_MINUTES_MS, 60_000, { usd: 0.5, tokens: 1_000 });
  const at = 4 * TEN_MINUTES_MS;
  expect(checkDiary(diary, { turns_per_day: 4 }, at)).toEqual({
    kind: 'wait',
    limit: 'turns_per_day',
    until: DAY_MS,
  });
  expect(checkDiary(diary, { day_wall_ms: 240_000 }, at)).toMatchObject({
    kind: 'park',
    limit: 'day_wall_ms',
  });
  expect(checkDiary(diary, { day_wall_ms: 240_001 }, at)).toBeNull();
  expect(checkDiary(diary, { day_usd: 2 }, at)).toMatchObject({
    limit: 'day_usd',
    reason: expect.stringContaining('budget.exhausted'),
  });
  expect(checkDiary(diary, { day_tokens: 4_000 }, at)).toMatchObject({
    limit: 'day_tokens',
  });
  expect(checkDiary(diary, { day_usd: 2, day_tokens: 4_000 }, at + DAY_MS)).toBeNull();
});

test('[RA1] what is older than a day is not kept', () => {
  const diary = createDiary();
  for (let i = 0; i < 50; i++) ran(diary, i * TEN_MINUTES_MS);
  ran(diary, 3 * DAY_MS);
  expect(diary.spans).toHaveLength(1);
});
