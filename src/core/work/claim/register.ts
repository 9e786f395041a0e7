/**
 * A map for keys that come and go and come again. A plain `Map` leaves a grave in the chain of a
 * key each time it is deleted, and one that is taken and released all day would walk over
 * thousands of them. Here a place that falls vacant is kept for its key, and the vacant ones
 * are swept out together when they outnumber the rest.
 */
const VACANT_MIN = 256;

export class Register<Value extends object> {
  readonly #places = new Map<string, Value | null>();
  #vacant = 0;

  get size(): number {
    return this.#places.size - this.#vacant;
  }

  get(key: string): Value | undefined {
    return this.#places.get(key) ?? undefined;
  }

  set(key: string, value: Value): void {
    if (this.#places.get(key) === null) this.#vacant--;
    this.#places.set(key, value);
  }

  delete(key: string): void {
    if (this.get(key) === undefined) return;
    this.#places.set(key, null);
    this.#vacant++;
    if (this.#vacant < VACANT_MIN || this.#vacant < this.size) return;
    for (const [name, value] of this.#places) if (value === null) this.#places.delete(name);
    this.#vacant = 0;
  }

  /** In no order that may be relied on. */
  *values(): Generator<Value> {
    for (const value of this.#places.values()) if (value !== null) yield value;
  }
}
