/** Snapshots beside a log in JetStream: one subject for each, in as many messages as the server's limit asks for. */
import type { DeliverPolicy } from '@nats-io/jetstream';
import { SNAPSHOTS_KEPT } from '../snapshot.ts';
import { askAgain } from './ask-again.ts';
import type { Link } from './link.ts';
import { partsOf } from './message.ts';

export interface NatsSnapshots {
  /** Positions, newest first. */
  positions(): Promise<number[]>;
  /** Null when one was not finished, or went meanwhile. */
  load(position: number): Promise<Uint8Array | null>;
  save(position: number, bytes: Uint8Array): Promise<void>;
}

const OF = 'Synod-Of';

export function createNatsSnapshots(
  link: Link,
  stream: string,
  subject: string,
  createId: () => string,
): NatsSnapshots {
  const { manager, js } = link;

  async function positions(): Promise<number[]> {
    const { state } = await askAgain(() => manager.streams.info(stream, { subjects_filter: '>' }));
    const found = Object.keys(state.subjects ?? {}).map((one) => Number(one.split('.').at(-1)));
    return found.filter(Number.isSafeInteger).sort((a, b) => b - a);
  }

  async function load(position: number): Promise<Uint8Array | null> {
    const consumer = await js.consumers.get(stream, {
      ...{ filter_subjects: `${subject}.${position}`, deliver_policy: 'all' as DeliverPolicy },
    });
    try {
      // Two servers may have written the same one at the same time: each is put together by itself.
      const writings = new Map<string, Uint8Array[]>();
      let left = (await consumer.info()).num_pending;
      while (left > 0) {
        const messages = await consumer.fetch({ max_messages: Math.min(left, 64), expires: 5_000 });
        let came = 0;
        for await (const { headers, data } of messages) {
          came++;
          const [, id = '', part, parts] =
            /^(\w+) (\d+)\/(\d+)$/.exec(headers?.get(OF) ?? '') ?? [];
          const writing = writings.get(id) ?? [];
          writings.set(id, writing);
          writing[Number(part) - 1] = data;
          if (Object.keys(writing).length === Number(parts)) return Buffer.concat(writing);
        }
        if (came === 0) return null;
        left -= came;
      }
      return null;
    } finally {
      await consumer.delete().catch(() => {});
    }
  }

  return {
    positions,
    load,
    async save(position, bytes) {
      const id = createId();
      const parts = partsOf(bytes, link.payloadMax);
      for (const [i, part] of parts.entries()) {
        const headers = link.createHeaders();
        headers.set(OF, `${id} ${i + 1}/${parts.length}`);
        await js.publish(`${subject}.${position}`, part, { headers, msgID: `${id}.${i}` });
      }
      for (const old of (await positions()).slice(SNAPSHOTS_KEPT)) {
        await manager.streams.purge(stream, { filter: `${subject}.${old}` });
      }
    },
  };
}
