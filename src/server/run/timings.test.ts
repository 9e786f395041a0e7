import { expect, test } from 'vitest';
import { createTimings } from './timings.ts';

test('what was added since the last look is told by its median and its 99th percentile', () => {
  const timings = createTimings();
  expect(timings.take()).toBe(null);
  for (let ms = 1; ms <= 100; ms++) timings.add(ms);
  expect(timings.take()).toEqual({ p50: 50, p99: 99 });
  expect(timings.take()).toBe(null);
});

test('of very many only the newest count', () => {
  const timings = createTimings();
  for (let i = 0; i < 10_000; i++) timings.add(1_000);
  for (let i = 0; i < 512; i++) timings.add(2);
  expect(timings.take()).toEqual({ p50: 2, p99: 2 });
});
