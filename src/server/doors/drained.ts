/**
 * Waiting until a stream that is full has been emptied, or has gone. Both listeners
 * leave together: a reader that catches up page by page waits here once a page.
 */
import type { Writable } from 'node:stream';

export function drained(stream: Writable): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
