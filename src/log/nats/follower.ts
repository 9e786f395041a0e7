/**
 * Told by JetStream of every message of a stream, once it is stored: with what is in it where others write, so that
 * whoever follows asks for nothing, and by its label alone where the messages are one's own.
 */
import { follow, startingAt } from './consume.ts';
import type { Link } from './link.ts';
import { readMessage, type Stored } from './message.ts';

export interface FollowerOptions {
  /** The first that is not known. */
  from(): number;
  /** Whose it is; null of no batch. `isWhole` says that it came with what is in it. */
  hear(
    stored: Stored,
    isWhole: boolean,
  ): Promise<'mine' | 'theirs' | null> | 'mine' | 'theirs' | null;
}

/** So many of one's own in a row, and the others need not be brought along; so many of others, and they are. */
const MINE_MANY = 4;
const THEIRS_MANY = 2;

export function followStream(
  link: Link,
  stream: string,
  { from, hear }: FollowerOptions,
): { stop(): void } {
  /** Others' are brought along until nobody else writes. */
  let isWhole = true;
  let inRow = 0;
  return follow(link, stream, {
    from() {
      inRow = 0;
      return { headers_only: !isWhole, ...startingAt(from()) };
    },
    async hear(message) {
      const whose = await hear(readMessage(message), isWhole);
      if (whose === null) return null;
      inRow = (whose === 'mine') === isWhole ? inRow + 1 : 0;
      if (inRow < (isWhole ? MINE_MANY : THEIRS_MANY)) return null;
      isWhole = !isWhole;
      return 'anew';
    },
  });
}
