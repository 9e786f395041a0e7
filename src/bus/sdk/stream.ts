/**
 * A stream: the chunks of one request as they come, then its result, or its error after the chunks
 * that came. The request is under way from the beginning; leaving early cancels it. A reader who falls
 * far behind gets the same text in longer chunks, so that what waits is bounded.
 */
import { ItemQueue } from './item-queue.ts';

export type StreamEvent<T = unknown> =
  | { readonly type: 'chunk'; readonly text: string }
  | { readonly type: 'result'; readonly result: T };

export interface BusStream<T = unknown>
  extends AsyncIterableIterator<StreamEvent<T>, undefined>,
    AsyncDisposable {
  next(): Promise<IteratorResult<StreamEvent<T>, undefined>>;
  /** Leaves: a request that is not answered yet is cancelled. */
  return(): Promise<IteratorResult<StreamEvent<T>, undefined>>;
  [Symbol.asyncIterator](): BusStream<T>;
}

/** So many chunks wait as they came; further ones are joined to the last. */
export const STREAM_CHUNKS_MAX = 1_024;

export class ChunkQueue<T> extends ItemQueue<StreamEvent<T>> implements BusStream<T> {
  chunk(text: string): void {
    const isJoined =
      this.size >= STREAM_CHUNKS_MAX &&
      this.changeLast((last) => ({
        type: 'chunk',
        text: (last.type === 'chunk' ? last.text : '') + text,
      }));
    if (!isJoined) this.push({ type: 'chunk', text });
  }

  result(result: T): void {
    this.push({ type: 'result', result });
    this.end();
  }
}
