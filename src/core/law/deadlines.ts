/**
 * What falls due, soonest first: a binary heap with one place for each kind and
 * agent, so that it never grows with the number of beats or drains. A deadline may
 * have been overtaken by events; whoever takes it looks at the state again and puts
 * back what is not due after all.
 */
export interface Deadline {
  readonly at: number;
  readonly kind: 'presence' | 'lease' | 'claims' | 'offers' | 'supervisor';
  readonly agent: string;
}

interface Place {
  at: number;
  readonly kind: Deadline['kind'];
  readonly agent: string;
  index: number;
}

export class Deadlines {
  readonly #heap: Place[] = [];
  readonly #places: Readonly<Record<Deadline['kind'], Map<string, Place>>> = {
    presence: new Map(),
    lease: new Map(),
    claims: new Map(),
    offers: new Map(),
    supervisor: new Map(),
  };

  get next(): Deadline | null {
    return this.#heap[0] ?? null;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Of two for the same kind and agent the sooner stays: looking too early is harmless. */
  push({ at, kind, agent }: Deadline): void {
    const known = this.#places[kind].get(agent);
    if (known === undefined) {
      const place = { at, kind, agent, index: this.#heap.length };
      this.#places[kind].set(agent, place);
      this.#heap.push(place);
      this.#rise(place);
    } else if (at < known.at) {
      known.at = at;
      this.#rise(known);
    }
  }

  /** Takes one item due at or before `at`. */
  pop(at: number): Deadline | null {
    const heap = this.#heap;
    const top = heap[0];
    if (top === undefined || top.at > at) return null;
    this.#places[top.kind].delete(top.agent);
    const last = heap.pop() as Place;
    if (last !== top) {
      last.index = 0;
      this.#sink(last);
    }
    return top;
  }

  #rise(place: Place): void {
    const heap = this.#heap;
    while (place.index > 0) {
      const above = heap[(place.index - 1) >> 1] as Place;
      if (above.at <= place.at) break;
      const index = above.index;
      this.#put(above, place.index);
      place.index = index;
    }
    heap[place.index] = place;
  }

  #sink(place: Place): void {
    const heap = this.#heap;
    for (;;) {
      let child = 2 * place.index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && right.at < (heap[child] as Place).at) child++;
      const below = heap[child] as Place;
      if (below.at >= place.at) break;
      this.#put(below, place.index);
      place.index = child;
    }
    heap[place.index] = place;
  }

  #put(place: Place, index: number): void {
    place.index = index;
    this.#heap[index] = place;
  }
}
