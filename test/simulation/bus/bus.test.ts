/**
 * Goal: no interleaving of requests, cancels, crashes, restarts, reloads and slow peers gives a
 * request two outcomes, or none, or somebody else's; and nothing grows past its bound.
 * Method: random steps over workers and clients that misbehave, on a clock that stands still. A
 * failure prints its seed; a seed that ever failed stays in seeds.txt.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createChance } from '../../../src/testing/chance.ts';
import { playBusStory } from './story.ts';

const STEPS = 400;
const kept = readFileSync(new URL('seeds.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\d+$/.test(line))
  .map(Number);

test.each(kept)(
  '[BU1] one outcome for every request: a seed that once failed (%i)',
  async (seed) => {
    await playBusStory(createChance(seed), STEPS);
  },
);

test('[BU1] one outcome for every request, in 300 stories', async () => {
  const total = { asked: 0, byWorkers: 0, byBus: 0 };
  for (let seed = 1; seed <= 300; seed += 1) {
    try {
      const end = await playBusStory(createChance(seed), STEPS);
      total.asked += end.asked;
      total.byWorkers += end.answeredByWorkers;
      total.byBus += end.answeredByBus;
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  // The stories are no good if nearly nothing is answered by workers, or nothing ever fails.
  expect(total.byWorkers).toBeGreaterThan(total.asked * 0.2);
  expect(total.byBus).toBeGreaterThan(total.asked * 0.05);
});
