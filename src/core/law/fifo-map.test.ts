import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FifoMap } from './fifo-map.ts';

test('[R11] the oldest key is the one a plain Map would give first, whatever was removed', () => {
  const step = fc.record({ key: fc.nat(20), isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const fifo = new FifoMap<number, number>();
      const plain = new Map<number, number>();
      let next = 0;
      for (const { key, isSet } of steps) {
        // A new key each time: forgetting and re-adding the same one is its caller's business.
        const chosen = isSet ? next++ : key;
        if (isSet) {
          fifo.set(chosen, chosen);
          plain.set(chosen, chosen);
        } else {
          fifo.delete(chosen);
          plain.delete(chosen);
        }
        expect(fifo.oldest).toBe(plain.keys().next().value);
        expect(fifo.size).toBe(plain.size);
      }
    }),
  );
});

test('[R11] forgetting the oldest of many costs nothing that grows', () => {
  const fifo = new FifoMap<number, number>();
  for (let i = 0; i < 200_000; i++) {
    fifo.set(i, i);
    if (fifo.size > 1_000) fifo.delete(fifo.oldest as number);
  }
  expect([fifo.size, fifo.oldest]).toEqual([1_000, 199_000]);
});
