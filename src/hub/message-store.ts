/**
 * Messages read back from the log by position, with a bounded cache of the newest.
 * History itself stays on disk: what memory keeps is at most `bytesMax` of text.
 */
import { decodeMessage, type StoredMessage } from '../core/entry.ts';
import type { Log } from '../log/log.ts';

/** A message as the hub hands it out. */
export interface Message extends StoredMessage {
  readonly position: number;
}

export interface MessageStore {
  /** Called with each durable message entry. */
  remember(position: number, entry: string): void;
  /** Messages by position, in the order asked; null where the entry is no message. */
  read(positions: readonly number[]): Promise<(Message | null)[]>;
}

export function createMessageStore(log: Log, bytesMax: number): MessageStore {
  // A Map remembers insertion order: the first key is the oldest.
  const cache = new Map<number, string>();
  let bytes = 0;

  return {
    remember(position, entry) {
      cache.set(position, entry);
      bytes += entry.length;
      for (const [oldest, text] of cache) {
        if (bytes <= bytesMax) break;
        cache.delete(oldest);
        bytes -= text.length;
      }
    },
    async read(positions) {
      // What is cached now may be evicted while the log is read, so it is taken first.
      const texts = positions.map((position) => cache.get(position));
      const absent = positions.filter((_, i) => texts[i] === undefined);
      const found = absent.length > 0 ? await log.at(absent) : [];
      let next = 0;
      return positions.map((position, i) => {
        const stored = decodeMessage(texts[i] ?? (found[next++] as string));
        return stored === null ? null : { ...stored, position };
      });
    },
  };
}
