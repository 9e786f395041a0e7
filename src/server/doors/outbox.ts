/**
 * What is on its way to one reader. As much as the reader takes is written; the rest waits here, up to a
 * bound, in whole pieces [F3]. So a reader that is too far behind can be told why: what waits is cut
 * off, and a farewell follows what was written.
 */
import type { Writable } from 'node:stream';

export interface Outbox {
  /** False when more waits than may, and the reader has not taken what was written before. */
  write(piece: Buffer): boolean;
  /** The same of several; `join` makes one of them, where the reader takes them now. */
  writeAll(pieces: readonly Buffer[], join: (pieces: readonly Buffer[]) => Buffer): boolean;
  /** Bytes that the reader has not taken. */
  readonly waiting: number;
  /** Nothing waits here; what was written may still be on its way. */
  readonly isEmpty: boolean;
  /** Settles when the reader has taken what was handed over, or is gone. */
  drained(): Promise<void>;
  /** Drops what was not written. */
  cut(): void;
}

/** Written at once when the reader is ready for more. */
const POUR_BYTES_MAX: number = 256 * 1024;
/** Smaller pieces are joined before they are written, as many as make so much: a copy, for this reader alone. */
const PIECE_BYTES_MIN = 1024;
const JOIN_BYTES_MAX: number = 32 * 1024;

export function createOutbox(stream: Writable, bytesMax: number): Outbox {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let listeners: (() => void)[] = [];

  function isDrained(): boolean {
    return stream.destroyed || (pieces.length === 0 && !stream.writableNeedDrain);
  }

  function pour(): void {
    while (pieces.length > 0 && !stream.writableNeedDrain && !stream.destroyed) {
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
      bytes -= size;
      if (isSmall) stream.write(some.length === 1 ? some[0] : Buffer.concat(some));
      else writeShared(some);
    }
    settle();
  }

  /** As they are, in one system call: who stops reading now holds what others hold as well, and no copy of it. */
  function writeShared(some: readonly Buffer[]): void {
    stream.cork();
    for (const piece of some) stream.write(piece);
    stream.uncork();
  }

  function cut(): void {
    pieces = [];
    bytes = 0;
  }

  function settle(): void {
    if (!isDrained()) return;
    const told = listeners;
    listeners = [];
    for (const listener of told) listener();
  }

  stream.on('drain', pour);
  stream.on('close', () => {
    cut();
    settle();
  });

  function write(piece: Buffer): boolean {
    // Gone: it is owed nothing, and to be told so by the stream costs an error with its stack.
    if (!stream.writable) return true;
    if (pieces.length === 0 && !stream.writableNeedDrain) {
      stream.write(piece);
      return true;
    }
    pieces.push(piece);
    bytes += piece.length;
    return stream.writableLength + bytes <= bytesMax;
  }

  return {
    write,
    writeAll(some, join) {
      const [only] = some;
      if (some.length === 1 && only !== undefined) return write(only);
      if (pieces.length === 0 && !stream.writableNeedDrain) return write(join(some));
      // What waits is held as it came: others hold the same buffers.
      let isInTime = true;
      for (const piece of some) isInTime = write(piece);
      return isInTime;
    },
    get waiting() {
      return stream.writableLength + bytes;
    },
    get isEmpty() {
      return pieces.length === 0;
    },
    drained() {
      if (isDrained()) return Promise.resolve();
      return new Promise((resolve) => listeners.push(resolve));
    },
    cut,
  };
}
