/**
 * Items on their way to one reader: an async iterator that is fed from outside. What was fed before
 * the end is read before the end; the end comes once, with or without an error. The feeder looks at
 * `size` and keeps the bound: a queue has none of its own.
 */
export class ItemQueue<T> implements AsyncIterableIterator<T, undefined>, AsyncDisposable {
  private items: T[] = [];
  private head = 0;
  private readonly waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  private ending: { error: unknown } | null = null;
  /** Called when the reader leaves before the end. */
  private readonly onLeft: () => void;

  constructor(onLeft: () => void = () => {}) {
    this.onLeft = onLeft;
  }

  get size(): number {
    return this.items.length - this.head;
  }

  get isEnded(): boolean {
    return this.ending !== null;
  }

  push(item: T): void {
    if (this.ending !== null) return;
    const reader = this.waiting.shift();
    if (reader === undefined) this.items.push(item);
    else reader.resolve({ done: false, value: item });
  }

  /** Changes the item fed last, if the reader has not taken it. */
  changeLast(change: (item: T) => T): boolean {
    if (this.size === 0 || this.ending !== null) return false;
    this.items.push(change(this.items.pop() as T));
    return true;
  }

  /** No more items. An error is thrown once, at the reader who comes to it. */
  end(error: unknown = null): void {
    if (this.ending !== null) return;
    this.ending = { error };
    for (const reader of this.waiting.splice(0)) this.tellEnd(reader);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const reader = Promise.withResolvers<IteratorResult<T, undefined>>();
    if (this.size > 0) reader.resolve({ done: false, value: this.take() });
    else if (this.ending !== null) this.tellEnd(reader);
    else this.waiting.push(reader);
    return reader.promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    const isEarly = this.ending === null;
    this.items = [];
    this.head = 0;
    this.ending = { error: null };
    for (const reader of this.waiting.splice(0)) this.tellEnd(reader);
    if (isEarly) this.onLeft();
    return Promise.resolve({ done: true, value: undefined });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private take(): T {
    const item = this.items[this.head] as T;
    this.items[this.head] = undefined as T;
    this.head++;
    // Half of the array is behind us: let go of it. Each item is moved once on average.
    if (this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  private tellEnd(reader: PromiseWithResolvers<IteratorResult<T, undefined>>): void {
    const error = this.ending?.error ?? null;
    if (error === null) {
      reader.resolve({ done: true, value: undefined });
      return;
    }
    this.ending = { error: null };
    reader.reject(error);
  }
}
