import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Positions } from './positions.ts';

const gaps = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 3000, size: 'max' });

test('[M1] positions answer like an array, by seq and by place, also out of a snapshot', () => {
  fc.assert(
    fc.property(gaps, fc.integer({ min: 0, max: 60_000 }), (deltas, probe) => {
      const model: number[] = [];
      const pushed = new Positions();
      let position = -1;
      for (const delta of deltas) {
        position += delta;
        model.push(position);
        pushed.push(position);
      }
      for (const positions of [
        pushed,
        Positions.thaw([...pushed.freeze().runs()].flat() as number[]),
      ]) {
        expect(positions.head).toBe(model.length);
        expect(model.map((_, i) => positions.at(i + 1))).toEqual(model);
        expect(positions.lastAtOrBefore(probe)).toBe(model.filter((one) => one <= probe).length);
      }
    }),
    { numRuns: 100 },
  );
});

test('[M1] a seq that does not exist is a bug, not a guess', () => {
  const positions = new Positions();
  positions.push(7);
  expect(() => positions.at(0)).toThrow('bug');
  expect(() => positions.at(2)).toThrow('bug');
});
