import { expect, test } from 'vitest';
import { createBackoff } from './backoff.ts';

test('[K5] waits are drawn from a bound that doubles up to the largest', () => {
  const backoff = createBackoff({ minMs: 100, maxMs: 1000, random: () => 0.5 });
  expect(Array.from({ length: 6 }, () => backoff.next())).toEqual([50, 100, 200, 400, 500, 500]);
});

test('[K5] the jitter is full: from nothing to the bound', () => {
  expect(createBackoff({ random: () => 0 }).next()).toBe(0);
  expect(createBackoff({ random: () => 0.999 }).next()).toBe(99);
});

test('[K5] a connection that proved itself starts over', () => {
  const backoff = createBackoff({ minMs: 100, random: () => 0.5 });
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(50);
});
