import { afterEach, expect, test, vi } from 'vitest';
import { createAsks, type Question } from './asks.ts';

const CLAIMS: Question = { operation: 'claims.list', input: {}, nouns: ['claims'] };

afterEach(() => {
  vi.useRealTimers();
});

/** A hub that answers when it is told to. */
function openScene(everyMs = 0) {
  const asked: { question: Question; answer(value: unknown): Promise<void> }[] = [];
  const asks = createAsks(
    (question) =>
      new Promise((resolve) => {
        asked.push({
          question,
          answer: async (value) => {
            resolve(value);
            for (let i = 0; i < 5; i++) await null;
          },
        });
      }),
    everyMs,
  );
  return { asks, asked };
}

test('what two places show is asked once, and again when its noun changes', async () => {
  const { asks, asked } = openScene();
  let told = 0;
  for (let i = 0; i < 2; i++) asks.watch(CLAIMS, () => told++);
  expect(asked).toHaveLength(1);
  await asked[0]?.answer('first');
  expect(told).toBe(2);
  asks.changed(['docket']);
  expect(asked).toHaveLength(1);
  asks.changed(['plan', 'claims']);
  expect(asked).toHaveLength(2);
  expect(asks.read(CLAIMS).value).toBe('first');
  await asked[1]?.answer('second');
  expect(asks.read(CLAIMS)).toEqual({ value: 'second', error: null, isOld: false });
});

test('what two places know by different nouns is asked again for either', async () => {
  const { asks, asked } = openScene();
  asks.watch({ ...CLAIMS, nouns: [] }, () => {});
  asks.watch(CLAIMS, () => {});
  await asked[0]?.answer('first');
  asks.changed(['claims']);
  expect(asked).toHaveLength(2);
});

test('a hundred changes while a question is under way are one more question', async () => {
  const { asks, asked } = openScene();
  asks.watch(CLAIMS, () => {});
  for (let i = 0; i < 100; i++) asks.changed('all');
  expect(asked).toHaveLength(1);
  await asked[0]?.answer('first');
  expect(asked).toHaveLength(2);
  await asked[1]?.answer('second');
  expect(asked).toHaveLength(2);
});

test('what nobody shows is not asked for, and is asked again when somebody does', async () => {
  const { asks, asked } = openScene();
  const stop = asks.watch(CLAIMS, () => {});
  await asked[0]?.answer('first');
  stop();
  asks.changed(['claims']);
  expect(asked).toHaveLength(1);
  asks.watch(CLAIMS, () => {});
  expect(asks.read(CLAIMS).value).toBe('first');
  expect(asked).toHaveLength(2);
});

test('answers nobody shows are forgotten beyond a bound, the oldest first', async () => {
  const { asks, asked } = openScene();
  for (let i = 0; i < 100; i++) {
    const stop = asks.watch({ ...CLAIMS, input: { i } }, () => {});
    await asked[i]?.answer(i);
    stop();
  }
  const kept = Array.from({ length: 100 }, (_, i) => asks.read({ ...CLAIMS, input: { i } }).value);
  expect(kept[99]).toBe(99);
  expect(kept.filter((one) => one !== undefined)).toHaveLength(48);
});

test('another moment makes every answer old until it is asked of that moment', async () => {
  const { asks, asked } = openScene();
  asks.watch(CLAIMS, () => {});
  await asked[0]?.answer('now');
  asks.age(true);
  expect(asks.read(CLAIMS)).toMatchObject({ value: 'now', isOld: true });
  asks.age(true);
  await asked[1]?.answer('of the moment before');
  expect(asks.read(CLAIMS).isOld).toBe(true);
  await asked[2]?.answer('then');
  expect(asks.read(CLAIMS)).toMatchObject({ value: 'then', isOld: false });
});

test('[WI2] a hub where something changes all the time is asked a few times a second', async () => {
  vi.useFakeTimers();
  const { asks, asked } = openScene(250);
  asks.watch(CLAIMS, () => {});
  for (let i = 0; i < 100; i++) {
    await asked.at(-1)?.answer(i);
    asks.changed(['claims']);
    vi.advanceTimersByTime(10);
  }
  expect(asked).toHaveLength(5);
  // And the last change is not missed.
  asks.changed(['claims']);
  await asked.at(-1)?.answer('last');
  vi.advanceTimersByTime(250);
  expect(asked).toHaveLength(6);
});
