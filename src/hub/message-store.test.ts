/** Messages read back: the same from memory and from the log, and no more memory than was allowed. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { encodeEvent } from '../core/law/entry.ts';
import type { DurableEvent } from '../core/law/world.ts';
import { openMemoryLog } from '../log/memory.ts';
import { createMessageStore, type MessageStore } from './message-store.ts';
import { openTextPage, type TextPage } from './text-page.ts';

/** Of which the marks of an entry are a part, wherever a sender can put them. */
const BODY = { 'a,"body":': ['},"body":{', { body: 'x}}' }], text: '\\",\u2028"body":1}' };
const sent = (seq: number, more: object = {}): DurableEvent => ({
  ...{ type: 'message.sent', at: 1_700_000_000_000 + seq, by: 'ada', as: 'agent/standard' },
  ...{ channel: 'c', seq, body: JSON.stringify(BODY) },
  ...{ key: ',"body":{"a":1}}', correlationId: '"},"body":{}', ...more },
});
const EVENTS: readonly DurableEvent[] = [
  sent(1),
  { type: 'agent.seen', at: 2, by: 'ada' },
  sent(2, { replyTo: 0, expiresAt: 7 }),
];

async function openStore(bytesMax: number): Promise<MessageStore> {
  const log = openMemoryLog();
  const store = createMessageStore(log, bytesMax);
  const entries = EVENTS.map(encodeEvent);
  await log.append(0, entries);
  store.remember(0, entries);
  return store;
}

describe('a message', () => {
  test('[M7] is the same from memory and from the log, as text and parsed, however often', async () => {
    const [memory, log] = [await openStore(1_000_000), await openStore(0)];
    for (const positions of [
      [0, 1, 2],
      [2, 0],
    ]) {
      const texts = await memory.readTexts(positions);
      expect(texts).toEqual(await log.readTexts(positions));
      const messages = await memory.read(positions);
      expect(messages).toEqual(await log.read(positions));
      for (const [i, text] of texts.entries()) {
        expect(text && { ...text, body: JSON.parse(text.body) }).toEqual(messages[i]);
      }
    }
    const [first, other, last] = await memory.read([0, 1, 2]);
    expect(first).toMatchObject({ position: 0, seq: 1, body: BODY, key: ',"body":{"a":1}}' });
    expect(other).toBeNull();
    expect(last).toMatchObject({ position: 2, seq: 2, body: BODY, replyTo: 0, expiresAt: 7 });
  });

  test('[M7] that is read weighs more, and makes older ones leave memory', async () => {
    const log = openMemoryLog();
    const entry = encodeEvent(sent(1));
    const store = createMessageStore(log, 3 * entry.length + 200);
    for (const first of [0, 1]) {
      await log.append(first, [entry]);
      store.remember(first, [entry]);
    }
    let reads = 0;
    const at = log.at.bind(log);
    log.at = (positions) => {
      reads += positions.length;
      return at(positions);
    };
    await store.read([1]);
    expect(reads).toBe(0);
    await store.read([0, 1]);
    expect(reads).toBe(1);
  });

  test('[M7] that is the first takes a small place, and as much is added as there is', () => {
    const sizes: number[] = [];
    const store = createMessageStore(openMemoryLog(), 8 * 1024 * 1024, (sizeMax) => {
      sizes.push(sizeMax);
      return openTextPage(sizeMax);
    });
    const entries = Array.from({ length: 100 }, (_, n) => encodeEvent(sent(n + 1)));
    for (let first = 0; first < 4_000; first += 100) store.remember(first, entries);
    const [least, second = 0, third = 0] = sizes;
    expect([least, second]).toEqual([4_096, 4_096]);
    expect(third).toBeGreaterThan(7_000);
    expect(sizes.at(-1)).toBe(256 * 1024);
  });

  test('[M7] that has left memory is held there by nothing', async () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const entry = encodeEvent(sent(1));
    const all: WeakRef<TextPage>[] = [];
    const store = createMessageStore(openMemoryLog(), 6 * entry.length, (sizeMax) => {
      const page = openTextPage(sizeMax);
      all.push(new WeakRef(page));
      return page;
    });
    for (let first = 0; first < 10; first++) store.remember(first, [entry]);
    // A reference that was made in this turn keeps what it refers to until the next.
    await new Promise<void>((resolve) => setImmediate(resolve));
    collect();
    const held = all.map((one) => one.deref() !== undefined);
    expect(held).toEqual([...new Array(4).fill(false), ...new Array(6).fill(true)]);
    await store.read([]);
  });
});
