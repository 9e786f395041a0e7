/** Snapshots beside a log in JetStream: one subject for each, in as many messages as the server's limit asks for. */
import { SNAPSHOTS_KEPT } from '../snapshot.ts';
import { askAgain } from './ask-again.ts';
import { readFirst } from './consume.ts';
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
const READ_AT_ONCE = 64;

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
    const own = `${subject}.${position}`;
    const { state } = await askAgain(() => manager.streams.info(stream, { subjects_filter: own }));
    const count = state.subjects?.[own] ?? 0;
    // Two servers may have written the same one at the same time: each is put together by itself.
    const writings = new Map<string, Uint8Array[]>();
    for await (const message of readFirst(link, stream, own, count, READ_AT_ONCE)) {
      const { headers, data } = message;
      const [, id = '', part, parts] = /^(\w+) (\d+)\/(\d+)$/.exec(headers?.get(OF) ?? '') ?? [];
      const writing = writings.get(id) ?? [];
      writings.set(id, writing);
      writing[Number(part) - 1] = data;
      if (Object.keys(writing).length === Number(parts)) return Buffer.concat(writing);
    }
    return null;
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
