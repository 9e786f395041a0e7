import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FifoMap } from './fifo-map.ts';

test('[R11] the oldest key is the one a plain Map would give first, whatever was removed and put in again', () => {
  const step = fc.record({ key: fc.nat(20), isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const fifo = new FifoMap<number, number>();
      const plain = new Map<number, number>();
      for (const { key, isSet } of steps) {
        if (isSet) {
          fifo.set(key, key);
          plain.set(key, key);
        } else {
          expect(fifo.delete(key)).toBe(plain.delete(key));
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
