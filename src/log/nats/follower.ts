/**
 * Told by JetStream of every message of a stream, once it is stored: with what is in it where others write, so that
 * whoever follows asks for nothing, and by its label alone where the messages are one's own.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ConsumerMessages, DeliverPolicy } from '@nats-io/jetstream';
import type { Link } from './link.ts';
import { readMessage, type Stored } from './message.ts';
import { SIGNS_OF_LIFE } from './reader.ts';

export interface FollowerOptions {
  /** The first that is not known. */
  from(): number;
  /** Whose it is; null of no batch. `isWhole` says that it came with what is in it. */
  hear(
    stored: Stored,
    isWhole: boolean,
  ): Promise<'mine' | 'theirs' | null> | 'mine' | 'theirs' | null;
}

/** A follower that lost its place begins again after this long. */
const AGAIN_MS = 1_000;
/** So many of one's own in a row, and the others need not be brought along; so many of others, and they are. */
const MINE_MANY = 4;
const THEIRS_MANY = 2;

export function followStream(
  { js }: Link,
  stream: string,
  { from, hear }: FollowerOptions,
): { stop(): void } {
  let isStopped = false;
  let messages: ConsumerMessages | null = null;
  /** Others' are brought along until nobody else writes. */
  let isWhole = true;

  /** Ends when it should be told in the other way. */
  async function run(): Promise<void> {
    const consumer = await js.consumers.get(stream, {
      ...{ opt_start_seq: from(), headers_only: !isWhole },
      deliver_policy: 'by_start_sequence' as DeliverPolicy,
    });
    messages = await consumer.consume({ ...SIGNS_OF_LIFE });
    let inRow = 0;
    try {
      if (isStopped) return;
      for await (const message of messages) {
        if (isStopped) return;
        const whose = await hear(readMessage(message), isWhole);
        if (whose === null) continue;
        inRow = (whose === 'mine') === isWhole ? inRow + 1 : 0;
        if (inRow < (isWhole ? MINE_MANY : THEIRS_MANY)) continue;
        isWhole = !isWhole;
        return;
      }
      // It ended by itself: it lost its place.
      await wait(AGAIN_MS, undefined, { ref: false });
    } finally {
      messages.stop();
      void consumer.delete().catch(() => {});
    }
  }

  async function begin(): Promise<void> {
    while (!isStopped) {
      // What went wrong is said by who reads or appends next; a follower only begins again.
      await run().catch(() => wait(AGAIN_MS, undefined, { ref: false }));
    }
  }
  void begin();
  return {
    stop() {
      isStopped = true;
      messages?.stop();
    },
  };
}
