/** Turns, order and sums, beside the plainest thing that could keep them. */
import { expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import type { ByteLine } from '../process/byte-line.ts';
import { createWaitingQueue, type Waitable } from './waiting-queue.ts';

interface Item extends Waitable {
  readonly n: number;
}

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

test.each(SEEDS)(
  '[BU5] [BU29] seed %i: order within owners and sessions, turns among owners',
  (seed) => {
    const chance = createChance(seed);
    const owners = Array.from({ length: chance.int(1, 5) }, (_, n) => ({ owner: n }));
    const sessions = Array.from({ length: 3 }, (_, n) => ({ session: n }));
    const queue = createWaitingQueue<Item>();
    /** All that should wait, in the order in which they came. */
    let waiting: Item[] = [];
    let n = 0;
    const makeItem = (): Item => ({
      n: n++,
      line: 'x'.repeat(chance.int(1, 30)) as ByteLine,
      owner: chance.pick(owners),
      session: chance.isLikely(0.5) ? chance.pick(sessions) : null,
      isDropped: false,
    });
    for (let step = 0; step < 400; step++) {
      const what = chance.int(0, 9);
      if (what < 5) {
        const item = makeItem();
        queue.push(item);
        waiting.push(item);
      } else if (what < 6) {
        const some = Array.from({ length: chance.int(1, 4) }, makeItem);
        queue.putFirst(some);
        waiting = [...some, ...waiting];
      } else if (what < 7 && waiting.length > 0) {
        const item = chance.pick(waiting);
        queue.drop(item);
        waiting = waiting.filter((one) => one !== item);
      } else {
        const banned = chance.isLikely(0.3) ? chance.pick(owners) : null;
        const taken = queue.take(({ owner }) => owner !== banned);
        if (taken === undefined) {
          // Only behind what the one who is banned said in a session of another may others be kept back.
          const isShared = waiting.some((one) => one.owner === banned && one.session !== null);
          expect(isShared || waiting.every(({ owner }) => owner === banned)).toBe(true);
          continue;
        }
        expect(taken.owner).not.toBe(banned);
        const { owner, session } = taken;
        const before = waiting.slice(0, waiting.indexOf(taken));
        if (session === null)
          expect(before.filter((one) => one.owner === owner && one.session === null)).toEqual([]);
        else expect(before.filter((one) => one.session === session)).toEqual([]);
        waiting = waiting.filter((one) => one !== taken);
      }
      expect(queue.length).toBe(waiting.length);
      expect(queue.bytes).toBe(waiting.reduce((sum, { line }) => sum + line.length, 0));
      expect(new Set(queue.live())).toEqual(new Set(waiting));
    }
  },
);

test('[BU29] among all who wait nobody has a second turn before everybody had one', () => {
  const queue = createWaitingQueue<Item>();
  const owners = Array.from({ length: 7 }, (_, owner) => ({ owner }));
  for (const [i, owner] of owners.entries()) {
    for (let n = 0; n <= i * 3; n++) {
      queue.push({ n, line: 'x' as ByteLine, owner, session: null, isDropped: false });
    }
  }
  while (queue.length > 0) {
    const here = new Set(queue.live().map(({ owner }) => owner));
    const round = Array.from({ length: here.size }, () => queue.take()?.owner);
    expect(new Set(round)).toEqual(here);
  }
});
