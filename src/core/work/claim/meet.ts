/**
 * The walk of two patterns side by side, common to folders and to the characters inside a name.
 * A pair of places only ever moves forward, so one sweep over the table of pairs finds whether
 * both ends can be reached together, and by reading the least.
 */

/** A side may move on without anything being read. */
export const SKIP_LEFT = 1;
export const SKIP_RIGHT = 2;
/** One side moves on and reads, because the other takes anything. */
export const LEFT = 4;
export const RIGHT = 8;
/** Both move on and read the same. */
export const BOTH = 16;

/** A move that reads, and the pair of places it starts from. */
export type Reading = readonly [move: number, i: number, j: number];

const FAR = 0xffff_ffff;

/** What is read on a shortest way to both ends, or null when there is none. `movesAt` gives the moves as bits. */
export function walk(
  leftEnd: number,
  rightEnd: number,
  movesAt: (i: number, j: number) => number,
): Reading[] | null {
  const width = rightEnd + 1;
  const costs = new Uint32Array((leftEnd + 1) * width).fill(FAR);
  const ways = new Uint8Array(costs.length);
  costs[0] = 0;
  const come = (place: number, way: number, cost: number): void => {
    if (cost >= (costs[place] as number)) return;
    costs[place] = cost;
    ways[place] = way;
  };
  for (let i = 0; i <= leftEnd; i++) {
    let isReached = false;
    for (let j = 0; j <= rightEnd; j++) {
      const place = i * width + j;
      const cost = costs[place] as number;
      if (cost === FAR) continue;
      isReached = true;
      const moves = movesAt(i, j);
      if (moves & SKIP_LEFT) come(place + width, SKIP_LEFT, cost);
      if (moves & SKIP_RIGHT) come(place + 1, SKIP_RIGHT, cost);
      if (moves & LEFT) come(place + width, LEFT, cost + 1);
      if (moves & RIGHT) come(place + 1, RIGHT, cost + 1);
      if (moves & BOTH) come(place + width + 1, BOTH, cost + 1);
    }
    if (!isReached) return null;
  }
  return costs.at(-1) === FAR ? null : readings(ways, width);
}

/** Back from both ends the way the sweep came. */
function readings(ways: Uint8Array, width: number): Reading[] {
  const read: Reading[] = [];
  for (let place = ways.length - 1; place > 0; ) {
    const way = ways[place] as number;
    if (way === SKIP_LEFT || way === LEFT) place -= width;
    else if (way === SKIP_RIGHT || way === RIGHT) place -= 1;
    else place -= width + 1;
    if (way >= LEFT) read.push([way, Math.floor(place / width), place % width]);
  }
  return read.reverse();
}
