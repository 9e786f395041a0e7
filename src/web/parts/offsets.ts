/** Where each row of a long list stands, from the heights that are known and a guess for the others. Pure. */

/** `offsets[i]` is the top of row i, and the last one the height of all. */
export function offsetsOf(
  keys: readonly string[],
  heights: ReadonlyMap<string, number>,
  estimatePx: number,
): Float64Array {
  const offsets = new Float64Array(keys.length + 1);
  for (const [i, key] of keys.entries()) {
    offsets[i + 1] = (offsets[i] as number) + (heights.get(key) ?? estimatePx);
  }
  return offsets;
}

/** The row that stands at a height. */
export function rowAt(offsets: Float64Array, px: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] as number) <= px) low = middle;
    else high = middle - 1;
  }
  return low;
}
