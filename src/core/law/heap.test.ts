import { expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { Heap, type Heaped } from './heap.ts';

interface Dated extends Heaped {
  readonly name: number;
  at: number;
}

test('[L5] the first comes first, whatever was moved or called off before', () => {
  const chance = createChance(7);
  const heap = new Heap<Dated>((a, b) => a.at < b.at || (a.at === b.at && a.name < b.name));
  const items = Array.from({ length: 50 }, (_, name): Dated => ({ name, at: 0, heapIndex: -1 }));
  const alive = new Set<Dated>();
  for (let step = 0; step < 5000; step++) {
    const item = chance.pick(items);
    if (chance.isLikely(0.7)) {
      item.at = chance.int(0, 100);
      heap.put(item);
      alive.add(item);
    } else {
      heap.delete(item);
      alive.delete(item);
    }
    const sorted = [...alive].sort((a, b) => a.at - b.at || a.name - b.name);
    expect([heap.first, heap.size]).toEqual([sorted[0], sorted.length]);
    expect(heap.firsts(({ at }) => at <= 50, 7)).toEqual(
      sorted.filter(({ at }) => at <= 50).slice(0, 7),
    );
  }
});
