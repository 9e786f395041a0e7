/** Callbacks of one kind. One that throws stops no other: it is told to the log, and the next is called. */
export class Listeners<T> {
  private readonly all = new Set<(value: T) => unknown>();
  private readonly onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.onFailure = onFailure;
  }

  add(listener: (value: T) => unknown): () => void {
    // Each registration is its own, also of the same function.
    const own = (value: T): unknown => listener(value);
    this.all.add(own);
    return () => void this.all.delete(own);
  }

  tell(value: T): void {
    for (const listener of this.all) {
      try {
        const outcome = listener(value);
        if (outcome instanceof Promise) outcome.catch(this.onFailure);
      } catch (error) {
        this.onFailure(error);
      }
    }
  }

  clear(): void {
    this.all.clear();
  }
}
