/**
 * Messages read back from the log by position, with a bounded cache of the newest.
 * History itself stays on disk: what memory keeps is at most `bytesMax` of text.
 */
import { decodeMessage, type StoredMessage } from '../core/law/entry.ts';
import type { Log } from '../log/log.ts';

/** A message as the hub hands it out. */
export interface Message extends StoredMessage {
  readonly position: number;
  /** How much text it is in the log: near enough to what it will be in an answer. */
  readonly chars: number;
}

export interface MessageStore {
  /** Called with each durable batch, in order. */
  remember(first: number, entries: readonly string[]): void;
  /** Messages by position, in the order asked; null where the entry is no message. */
  read(positions: readonly number[]): Promise<(Message | null)[]>;
}

interface Batch {
  readonly first: number;
  readonly entries: readonly string[];
  readonly chars: number;
}

export function createMessageStore(log: Log, bytesMax: number): MessageStore {
  // Batches come in log order, so the newest ones are a sorted list that only loses its head.
  let batches: Batch[] = [];
  let start = 0;
  let chars = 0;

  function forget(): void {
    while (chars > bytesMax && start < batches.length) chars -= (batches[start++] as Batch).chars;
    // Moving the list costs its length; done when half of it is gone, that is nothing per batch.
    if (start * 2 <= batches.length) return;
    batches = batches.slice(start);
    start = 0;
  }

  function recent(position: number): string | undefined {
    let low = start;
    let high = batches.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((batches[middle] as Batch).first <= position) low = middle;
      else high = middle - 1;
    }
    const batch = batches[low];
    return batch === undefined ? undefined : batch.entries[position - batch.first];
  }

  return {
    remember(first, entries) {
      let size = 0;
      for (const entry of entries) size += entry.length;
      batches.push({ first, entries, chars: size });
      chars += size;
      if (chars > bytesMax) forget();
    },
    async read(positions) {
      // What is cached now may be evicted while the log is read, so it is taken first.
      const texts = positions.map(recent);
      const absent = positions.filter((_, i) => texts[i] === undefined);
      const found = absent.length > 0 ? await log.at(absent) : [];
      let next = 0;
      return positions.map((position, i) => {
        const text = texts[i] ?? (found[next++] as string);
        const stored = decodeMessage(text);
        return stored === null ? null : Object.assign(stored, { position, chars: text.length });
      });
    },
  };
}
