/** Batches that are at hand, by the sequence they begin at: the newest, and at least one. */
import type { Whole } from './message.ts';

export class Shelf {
  readonly #bytesMax: number;
  readonly #held = new Map<number, Whole>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  has(firstSeq: number): boolean {
    return this.#held.has(firstSeq);
  }

  get(firstSeq: number): Whole | undefined {
    return this.#held.get(firstSeq);
  }

  put(whole: Whole): void {
    if (this.#held.has(whole.firstSeq)) return;
    this.#held.set(whole.firstSeq, whole);
    this.#bytes += whole.batch.bytes.byteLength;
    for (const firstSeq of this.#held.keys()) {
      if (this.#bytes <= this.#bytesMax || this.#held.size === 1) break;
      this.take(firstSeq);
    }
  }

  take(firstSeq: number): void {
    const held = this.#held.get(firstSeq);
    if (held === undefined) return;
    this.#held.delete(firstSeq);
    this.#bytes -= held.batch.bytes.byteLength;
  }
}
