/**
 * Where a channel's messages lie in the log: seq 1, 2, 3 … → position. Eight
 * bytes a message, in chunks, because this list is all that memory keeps of
 * history.
 */
import { assert } from '../law/assert.ts';
import { Runs } from '../law/fields.ts';

const CHUNK = 1024;

export class Positions {
  #chunks: Float64Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The newest seq; 0 when nothing was sent yet. */
  get head(): number {
    return this.#length;
  }

  push(position: number): void {
    const slot = this.#length % CHUNK;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || (slot === 0 && this.#length > 0)) {
      chunk = new Float64Array(this.#length === 0 ? 4 : CHUNK);
      this.#chunks.push(chunk);
    } else if (slot >= chunk.length) {
      // Most channels are small: the first chunk grows by doubling.
      const grown = new Float64Array(Math.min(CHUNK, chunk.length * 2));
      grown.set(chunk);
      this.#chunks[this.#chunks.length - 1] = grown;
      chunk = grown;
    }
    chunk[slot] = position;
    this.#length++;
  }

  /** The position of a seq, counted from 1. */
  at(seq: number): number {
    assert(seq >= 1 && seq <= this.#length, `no seq ${seq} among ${this.#length}`);
    const index = seq - 1;
    const position = this.#chunks[Math.floor(index / CHUNK)]?.[index % CHUNK];
    assert(position !== undefined, 'positions are dense');
    return position;
  }

  /** The newest seq whose position is at most `position`; 0 when there is none. */
  lastAtOrBefore(position: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.at(middle) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * Differences between neighbours, chunk by chunk, as of now: what is there never changes, so
   * a reader may take its time while more is pushed.
   */
  freeze(): Runs {
    const chunks = this.#chunks.slice();
    const length = this.#length;
    return new Runs(function* () {
      let previous = 0;
      for (const [i, chunk] of chunks.entries()) {
        const deltas: number[] = [];
        for (const position of chunk.subarray(0, Math.min(CHUNK, length - i * CHUNK))) {
          deltas.push(position - previous);
          previous = position;
        }
        yield deltas;
      }
    });
  }

  static thaw(deltas: readonly number[]): Positions {
    const positions = new Positions();
    let position = 0;
    for (const delta of deltas) {
      position += delta;
      positions.push(position);
    }
    return positions;
  }
}
