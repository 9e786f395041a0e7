import { expect, test } from 'vitest';
import { createChance } from '../../../testing/chance.ts';
import { type Dated, Due } from './due.ts';
import { Register } from './register.ts';

test('the soonest comes first, whatever was moved or called off before', () => {
  const chance = createChance(7);
  const due = new Due<Dated>();
  const items = Array.from({ length: 50 }, (): Dated => ({ dueAt: 0, dueIndex: -1 }));
  const alive = new Set<Dated>();
  for (let step = 0; step < 5000; step++) {
    const item = chance.pick(items);
    if (chance.isLikely(0.7)) {
      due.set(item, chance.int(0, 1000));
      alive.add(item);
    } else {
      due.delete(item);
      alive.delete(item);
    }
    const times = [...alive].map(({ dueAt }) => dueAt);
    expect(due.next).toBe(times.length === 0 ? null : Math.min(...times));
    expect(due.size).toBe(alive.size);
    expect(new Set(due.by(500))).toEqual(new Set([...alive].filter(({ dueAt }) => dueAt <= 500)));
  }
});

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
