/**
 * What is on its way to one reader. As much as the reader takes is written; the rest waits here, up to a
 * bound, in whole pieces [F3]. So a reader that is too far behind can be told why: what waits is cut
 * off, and a farewell follows what was written.
 */
import type { Writable } from 'node:stream';

/** Written at once when the reader is ready for more. */
const POUR_BYTES_MAX: number = 256 * 1024;
/** Smaller pieces are joined before they are written, as many as make so much: a copy, for this reader alone. */
const PIECE_BYTES_MIN = 1024;
const JOIN_BYTES_MAX: number = 32 * 1024;

/** A class, because there is one for every connection: of closures each would have its own. */
export class Outbox {
  readonly #stream: Writable;
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #listeners: (() => void)[] = [];

  constructor(stream: Writable, bytesMax: number) {
    this.#stream = stream;
    this.#bytesMax = bytesMax;
    stream.on('drain', () => this.#pour());
    stream.on('close', () => {
      this.cut();
      this.#settle();
    });
  }

  /** False when more waits than may, and the reader has not taken what was written before. */
  write(piece: Buffer): boolean {
    const stream = this.#stream;
    // Gone: it is owed nothing, and to be told so by the stream costs an error with its stack.
    if (!stream.writable) return true;
    if (this.#pieces.length === 0 && !stream.writableNeedDrain) {
      stream.write(piece);
      return true;
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return stream.writableLength + this.#bytes <= this.#bytesMax;
  }

  /** The same of several; `join` makes one of them, where the reader takes them now. */
  writeAll(pieces: readonly Buffer[], join: (pieces: readonly Buffer[]) => Buffer): boolean {
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) return this.write(only);
    if (this.#pieces.length === 0 && !this.#stream.writableNeedDrain) {
      return this.write(join(pieces));
    }
    // What waits is held as it came: others hold the same buffers.
    let isInTime = true;
    for (const piece of pieces) isInTime = this.write(piece);
    return isInTime;
  }

  /** Bytes that the reader has not taken. */
  get waiting(): number {
    return this.#stream.writableLength + this.#bytes;
  }

  /** Nothing waits here; what was written may still be on its way. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Settles when the reader has taken what was handed over, or is gone. */
  drained(): Promise<void> {
    if (this.#isDrained()) return Promise.resolve();
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Drops what was not written. */
  cut(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #isDrained(): boolean {
    const { destroyed, writableNeedDrain } = this.#stream;
    return destroyed || (this.#pieces.length === 0 && !writableNeedDrain);
  }

  #pour(): void {
    const stream = this.#stream;
    while (this.#pieces.length > 0 && !stream.writableNeedDrain && !stream.destroyed) {
      const pieces = this.#pieces;
      const isSmall = (pieces[0] as Buffer).length < PIECE_BYTES_MIN;
      const sizeMax = isSmall ? JOIN_BYTES_MAX : POUR_BYTES_MAX;
      let count = 0;
      let size = 0;
      while (count < pieces.length && size < sizeMax) {
        const { length } = pieces[count] as Buffer;
        if (length < PIECE_BYTES_MIN !== isSmall) break;
        size += length;
        count++;
      }
      const some = pieces.splice(0, count);
      this.#bytes -= size;
      if (isSmall) stream.write(some.length === 1 ? some[0] : Buffer.concat(some));
      else this.#writeShared(some);
    }
    this.#settle();
  }

  /** As they are, in one system call: who stops reading now holds what others hold as well, and no copy of it. */
  #writeShared(some: readonly Buffer[]): void {
    const stream = this.#stream;
    stream.cork();
    for (const piece of some) stream.write(piece);
    stream.uncork();
  }

  #settle(): void {
    if (!this.#isDrained()) return;
    const told = this.#listeners;
    this.#listeners = [];
    for (const listener of told) listener();
  }
}
