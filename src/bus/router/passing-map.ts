/**
 * A map of what comes and goes all the time. It is made anew after so many departures, because V8's own map
 * chains its tables: each that it outgrew, or that is full of holes, points to the next one. Once one of them is
 * old, all that follow are kept with everything that stood in them, until the whole heap is collected.
 */

/** So many departures a map of V8's own lives through; with more in it, as many as it has. */
const GONE_MAX = 256;

export class PassingMap<K, V> {
  #now: Map<K, V> = new Map();
  #gone = 0;

  get size(): number {
    return this.#now.size;
  }

  get(key: K): V | undefined {
    return this.#now.get(key);
  }

  set(key: K, value: V): void {
    this.#now.set(key, value);
  }

  delete(key: K): boolean {
    if (!this.#now.delete(key)) return false;
    this.#gone += 1;
    if (this.#gone >= GONE_MAX && this.#gone >= this.#now.size) {
      this.#now = new Map(this.#now);
      this.#gone = 0;
    }
    return true;
  }

  clear(): void {
    this.#now = new Map();
    this.#gone = 0;
  }

  /** In the order they came. Who takes something out meanwhile may meet it yet. */
  values(): MapIterator<V> {
    return this.#now.values();
  }
}
