/**
 * A binary heap of things that know their own place in it: the first in order is at hand, and to
 * move or forget one needs no search. Unlike a list of timers it forgets what is called off, so it
 * never outgrows what is alive.
 */
export interface Heaped {
  /** Kept by the heap; -1 while it is in none. */
  heapIndex: number;
}

export class Heap<Item extends Heaped> {
  readonly #items: Item[] = [];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  /** All of them, in no order that may be relied on. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#items.values();
  }

  /** Takes it in; one that is in already is moved to where it belongs now. */
  put(item: Item): void {
    if (item.heapIndex < 0) item.heapIndex = this.#items.push(item) - 1;
    this.#settle(item);
  }

  delete(item: Item): void {
    if (item.heapIndex < 0) return;
    const last = this.#items.pop() as Item;
    if (last !== item) {
      last.heapIndex = item.heapIndex;
      this.#settle(last);
    }
    item.heapIndex = -1;
  }

  /** The first ones in order while they are wanted, so many at most; all of them stay. */
  firsts(isWanted: (item: Item) => boolean, max: number): Item[] {
    const items = this.#items;
    const found: Item[] = [];
    const open = new Heap<{ readonly item: Item; heapIndex: number }>((a, b) =>
      this.#isBefore(a.item, b.item),
    );
    const reach = (item: Item | undefined): void => {
      if (item !== undefined) open.put({ item, heapIndex: -1 });
    };
    reach(items[0]);
    for (let next = open.first; next !== undefined && found.length < max; next = open.first) {
      const { item } = next;
      if (!isWanted(item)) break;
      found.push(item);
      open.delete(next);
      reach(items[2 * item.heapIndex + 1]);
      reach(items[2 * item.heapIndex + 2]);
    }
    return found;
  }

  #settle(item: Item): void {
    const items = this.#items;
    let index = item.heapIndex;
    while (index > 0) {
      const above = items[(index - 1) >> 1] as Item;
      if (!this.#isBefore(item, above)) break;
      index = this.#fill(index, above);
    }
    for (;;) {
      const left = items[2 * index + 1];
      const right = items[2 * index + 2];
      if (left === undefined) break;
      const below = right !== undefined && this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(below, item)) break;
      index = this.#fill(index, below);
    }
    this.#fill(index, item);
  }

  /** Puts the item at an index; answers with the index that it leaves. */
  #fill(index: number, item: Item): number {
    const before = item.heapIndex;
    item.heapIndex = index;
    this.#items[index] = item;
    return before;
  }
}
