/**
 * A map that forgets its oldest key cheaply. An ordinary Map leaves a hole where its
 * first key was and walks over all of them to find the next; here the order is kept
 * beside it. A key that is removed and put in again is young again, as in the map that
 * a snapshot gives [L3].
 */

/** Keys that are gone and still stand in the order, before it is written anew. */
const SLACK = 4_096;

export class FifoMap<K, V> extends Map<K, V> {
  #order: K[] = [];
  #start = 0;
  /** How many places in the order a key has left. */
  #left = new Map<K, number>();

  override set(key: K, value: V): this {
    // `Map` calls set from its constructor, before the fields above exist; we are made empty.
    if (!this.has(key)) this.#order.push(key);
    super.set(key, value);
    // Keys that went from the middle must not pile up behind an oldest that stays.
    if (this.#order.length > 2 * this.size + SLACK) {
      this.#order = [...this.keys()];
      this.#start = 0;
      this.#left.clear();
    }
    return this;
  }

  override delete(key: K): boolean {
    if (!super.delete(key)) return false;
    if (this.#order[this.#start] === key && !this.#left.has(key)) this.#start++;
    else this.#left.set(key, (this.#left.get(key) ?? 0) + 1);
    return true;
  }

  override clear(): void {
    this.#order = [];
    this.#start = 0;
    this.#left.clear();
    super.clear();
  }

  get oldest(): K | undefined {
    while (this.#start < this.#order.length && this.#passLeft(this.#order[this.#start] as K))
      this.#start++;
    if (this.#start > 1024 && this.#start * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#start);
      this.#start = 0;
    }
    return this.#order[this.#start];
  }

  /** Whether the first place of this key is one that it has left. */
  #passLeft(key: K): boolean {
    const left = this.#left.get(key);
    if (left === undefined) return false;
    if (left === 1) this.#left.delete(key);
    else this.#left.set(key, left - 1);
    return true;
  }
}
