/**
 * What falls due and when, soonest first: a binary heap of things that know their own place
 * in it. Unlike a list of timers it forgets what is called off, so it never outgrows what is
 * alive, and moving or forgetting a thing needs no search.
 */
export interface Dated {
  /** Milliseconds since the epoch. */
  dueAt: number;
  /** Its place in the heap, kept by the heap; -1 when it is in none. */
  dueIndex: number;
}

export class Due<Item extends Dated> {
  readonly #heap: Item[] = [];

  get next(): number | null {
    return this.#heap[0]?.dueAt ?? null;
  }

  get size(): number {
    return this.#heap.length;
  }

  set(item: Item, at: number): void {
    item.dueAt = at;
    if (item.dueIndex < 0) item.dueIndex = this.#heap.push(item) - 1;
    this.#settle(item);
  }

  delete(item: Item): void {
    if (item.dueIndex < 0) return;
    const last = this.#heap.pop() as Item;
    if (last !== item) {
      last.dueIndex = item.dueIndex;
      this.#settle(last);
    }
    item.dueIndex = -1;
  }

  /** What is due at or before `at`, in no particular order. */
  by(at: number): Item[] {
    const due: Item[] = [];
    const open = [0];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const item = this.#heap[index];
      if (item === undefined || item.dueAt > at) continue;
      due.push(item);
      open.push(2 * index + 1, 2 * index + 2);
    }
    return due;
  }

  #settle(item: Item): void {
    const heap = this.#heap;
    heap[item.dueIndex] = item;
    while (item.dueIndex > 0) {
      const above = heap[(item.dueIndex - 1) >> 1] as Item;
      if (above.dueAt <= item.dueAt) break;
      this.#swap(item, above);
    }
    for (;;) {
      const left = heap[2 * item.dueIndex + 1];
      const right = heap[2 * item.dueIndex + 2];
      const below =
        right !== undefined && left !== undefined && right.dueAt < left.dueAt ? right : left;
      if (below === undefined || below.dueAt >= item.dueAt) break;
      this.#swap(item, below);
    }
  }

  #swap(a: Item, b: Item): void {
    const { dueIndex } = a;
    a.dueIndex = b.dueIndex;
    b.dueIndex = dueIndex;
    this.#heap[a.dueIndex] = a;
    this.#heap[b.dueIndex] = b;
  }
}
