/** Stamps: by the clock, never backwards, and never standing still. */
import { expect, test } from 'vitest';
import { createStamps } from './stamps.ts';

test('[H9] [H22] they follow the clock, and go at half the pace while they are ahead of it', () => {
  let now = 10_000;
  let recorded = 0;
  const stamps = createStamps({ now: () => now }, () => recorded);
  expect(stamps.next()).toBe(10_000);
  now = 10_500;
  expect(stamps.next()).toBe(10_500);
  expect(stamps.untilMs(10_600)).toBe(100);
  // Another server was a minute ahead.
  recorded = 70_000;
  expect(stamps.next()).toBe(70_000);
  for (let i = 0; i < 1_000; i++) {
    now++;
    stamps.next();
  }
  expect(stamps.next()).toBe(70_500);
  expect(stamps.untilMs(71_000)).toBe(1_000);
  // Set back, it goes on from where it was.
  now -= 5_000;
  expect(stamps.next()).toBe(70_500);
  now += 10;
  expect(stamps.next()).toBe(70_505);
  // Nearly caught up, what is far is due by the clock.
  now = 70_400;
  const ahead = stamps.next();
  expect(ahead).toBeGreaterThan(70_505);
  now = ahead - 10;
  expect(stamps.untilMs(ahead + 1_000)).toBeLessThanOrEqual(1_010);
  now = 200_000;
  expect(stamps.next()).toBe(200_000);
});
