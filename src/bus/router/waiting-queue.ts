/**
 * What waits for a worker, in order. Taking something out of the middle, because it was cancelled,
 * only marks it; the marks are swept when they outweigh what is left, so that a storm of cancels
 * costs no more than the requests did.
 */

import type { ByteLine } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';

/** What can wait: it is marked when it is taken out of the middle. */
export interface Waitable {
  line: ByteLine;
  isDropped: boolean;
}

export interface WaitingQueue<Item extends Waitable> {
  /** How many wait. */
  readonly length: number;
  /** How many bytes they are. */
  readonly bytes: number;
  push(item: Item): void;
  /** Before all that wait already: they were here earlier. */
  putFirst(items: readonly Item[]): void;
  /** The oldest, which stays. */
  peek(): Item | undefined;
  take(): Item | undefined;
  drop(item: Item): void;
  /** All that wait, in order. */
  live(): Item[];
}

const SWEEP_AT = 1_024;

export function createWaitingQueue<Item extends Waitable>(): WaitingQueue<Item> {
  let items: Item[] = [];
  let head = 0;
  let length = 0;
  let bytes = 0;

  const skipDropped = (): void => {
    while (head < items.length && items[head]?.isDropped) head += 1;
    if (head > SWEEP_AT && head * 2 > items.length) {
      items = items.slice(head);
      head = 0;
    }
  };

  return {
    get length() {
      return length;
    },
    get bytes() {
      return bytes;
    },
    push(item) {
      // It may stay for long, and must not keep alive the chunk it came in.
      item.line = detached(item.line);
      items.push(item);
      length += 1;
      bytes += item.line.length;
    },
    putFirst(first) {
      items = [...first, ...items.slice(head)];
      head = 0;
      length += first.length;
      for (const { line } of first) bytes += line.length;
    },
    peek() {
      skipDropped();
      return items[head];
    },
    take() {
      skipDropped();
      const item = items[head];
      if (!item) return undefined;
      head += 1;
      length -= 1;
      bytes -= item.line.length;
      return item;
    },
    live: () => items.slice(head).filter(({ isDropped }) => !isDropped),
    drop(item) {
      if (item.isDropped) return;
      item.isDropped = true;
      length -= 1;
      bytes -= item.line.length;
      if (items.length - head - length > SWEEP_AT && items.length - head > length * 2) {
        items = items.filter((one, i) => i >= head && !one.isDropped);
        head = 0;
      }
    },
  };
}
