/**
 * A map that forgets its oldest key cheaply. An ordinary Map leaves a hole where its
 * first key was and walks over all of them to find the next; here the order is kept
 * beside it. A key that is removed and put in again is young again only if it was
 * the oldest: whoever needs more sweeps first.
 */

/** Keys that are gone and still stand in the order, before it is written anew. */
const SLACK = 4_096;

export class FifoMap<K, V> extends Map<K, V> {
  #order: K[] = [];
  #start = 0;

  override set(key: K, value: V): this {
    // `Map` calls set from its constructor, before the fields above exist; we are made empty.
    if (!this.has(key)) this.#order.push(key);
    super.set(key, value);
    // Keys that went from the middle must not pile up behind an oldest that stays.
    if (this.#order.length > 2 * this.size + SLACK) {
      this.#order = [...this.keys()];
      this.#start = 0;
    }
    return this;
  }

  override clear(): void {
    this.#order = [];
    this.#start = 0;
    super.clear();
  }

  get oldest(): K | undefined {
    while (this.#start < this.#order.length && !this.has(this.#order[this.#start] as K))
      this.#start++;
    if (this.#start > 1024 && this.#start * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#start);
      this.#start = 0;
    }
    return this.#order[this.#start];
  }
}
