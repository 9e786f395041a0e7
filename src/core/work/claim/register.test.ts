import { expect, test } from 'vitest';
import { createChance } from '../../../testing/chance.ts';
import { Register } from './register.ts';

test('a register holds what a map would hold, and no grave for long', () => {
  const chance = createChance(8);
  const register = new Register<{ n: number }>();
  const map = new Map<string, { n: number }>();
  for (let n = 0; n < 20_000; n++) {
    const key = `k${chance.int(0, 900)}`;
    if (chance.isLikely(0.5)) {
      register.set(key, { n });
      map.set(key, { n });
    } else {
      register.delete(key);
      map.delete(key);
    }
    expect([register.size, register.get(key)]).toEqual([map.size, map.get(key)]);
  }
  const byNumber = (a: { n: number }, b: { n: number }) => a.n - b.n;
  expect([...register.values()].sort(byNumber)).toEqual([...map.values()].sort(byNumber));
});
