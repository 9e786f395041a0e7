/**
 * Chance that can be repeated: sfc32, seeded by one number. The same seed draws the
 * same numbers on every machine; nothing else in a simulation is random.
 */
export interface Chance {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** True with this probability. */
  isLikely(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A source of its own, so that drawing here does not shift what is drawn there. */
  fork(): Chance;
}

export function createChance(seed: number): Chance {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88;
  let c = 0xb7e15162 ^ Math.trunc(seed / 2 ** 32);
  let d = 1;

  function next32(): number {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  const chance: Chance = {
    next: () => next32() / 2 ** 32,
    int: (min, max) => min + Math.floor(chance.next() * (max - min + 1)),
    isLikely: (probability) => chance.next() < probability,
    pick: <T>(items: readonly T[]) => items[chance.int(0, items.length - 1)] as T,
    fork: () => createChance(next32()),
  };
  for (let i = 0; i < 16; i++) next32();
  return chance;
}
