import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Deadline, Deadlines } from './deadlines.ts';

const step = fc.record({
  isPush: fc.boolean(),
  at: fc.integer({ min: 0, max: 100 }),
  kind: fc.constantFrom('presence' as const, 'lease' as const),
  agent: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
});

test('[L5] deadlines fall due like a sorted list with one place for each kind and agent', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const deadlines = new Deadlines();
      const model = new Map<string, Deadline>();
      const soonest = () => [...model.values()].sort((a, b) => a.at - b.at)[0] ?? null;
      for (const { isPush, at, kind, agent } of steps) {
        const key = `${kind} ${agent}`;
        if (isPush) {
          deadlines.push({ at, kind, agent });
          if (at < (model.get(key)?.at ?? Number.POSITIVE_INFINITY))
            model.set(key, { at, kind, agent });
        } else {
          const expected = soonest();
          const popped = deadlines.pop(at);
          expect(popped?.at ?? null).toBe(
            expected !== null && expected.at <= at ? expected.at : null,
          );
          if (popped !== null) {
            expect(model.get(`${popped.kind} ${popped.agent}`)?.at).toBe(popped.at);
            model.delete(`${popped.kind} ${popped.agent}`);
          }
        }
        expect(deadlines.size).toBe(model.size);
        expect(deadlines.next?.at).toBe(soonest()?.at);
      }
    }),
    { numRuns: 500 },
  );
});

test('[L3] deadlines of one time fall due in one order, whatever order they were set in', () => {
  const set = [
    { at: 5, kind: 'presence', agent: 'b' },
    { at: 5, kind: 'presence', agent: 'a' },
    { at: 5, kind: 'lease', agent: 'c' },
  ] as const;
  fc.assert(
    fc.property(fc.shuffledSubarray([...set], { minLength: 3 }), (shuffled) => {
      const deadlines = new Deadlines();
      for (const one of shuffled) deadlines.push(one);
      const order = set.map(() => deadlines.pop(5)?.agent);
      expect(order).toEqual(['a', 'b', 'c']);
    }),
  );
});
