/** Pages of text beside the heap: the same texts as pages in it, and none of the heap. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { encodeEvent } from '../../core/law/entry.ts';
import { createMessageStore } from '../../hub/message-store.ts';
import { openTextPage } from '../../hub/text-page.ts';
import { openMemoryLog } from '../../log/memory.ts';
import { createBytePages } from './byte-pages.ts';

const TEXTS = ['plain', '', 'café', '日本', '\u2028"x"', '🙂 and \u{10ffff}', 'x'.repeat(40)];

describe.each([
  ['in the heap', () => openTextPage],
  ['beside the heap', createBytePages],
])('a page %s', (_, createPages) => {
  test('gives back each text as it was', () => {
    const page = createPages()(1_000);
    for (const text of TEXTS) expect(page.add(text)).toBe(true);
    expect(page.count).toBe(TEXTS.length);
    expect(TEXTS.map((_text, i) => page.read(i))).toEqual(TEXTS);
  });

  test('is full when it is, and takes its first text however large', () => {
    const open = createPages();
    const page = open(10);
    expect(['a'.repeat(9), 'bb', 'c', 'd'].map((text) => page.add(text))).toEqual([
      ...[true, false, true, false],
    ]);
    expect([page.count, page.size]).toEqual([2, 10]);
    const large = open(10);
    expect(large.add('é'.repeat(1_000))).toBe(true);
    expect(large.add('e')).toBe(false);
    expect(large.read(0)).toBe('é'.repeat(1_000));
  });

  test('may have what another had that was closed', () => {
    const open = createPages();
    const [first, second] = [open(100), open(100)];
    for (const page of [first, second]) page.add('old');
    first.close();
    const third = open(100);
    third.add('new');
    second.close();
    const fourth = open(50);
    fourth.add('small');
    expect([third.read(0), fourth.read(0), third.count]).toEqual(['new', 'small', 1]);
  });
});

test('[M7] messages that are remembered take nothing of the heap, and come back as they were', async () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const store = createMessageStore(openMemoryLog(), 8 * 1024 * 1024, createBytePages());
  const textOf = (n: number) => `the ${n}th of them, café ${'x'.repeat(400)}`;
  const entryOf = (n: number) =>
    encodeEvent({
      ...{ type: 'message.sent', at: 1_700_000_000_000 + n, by: 'ada', as: 'agent/standard' },
      ...{ channel: 'c', seq: n + 1, body: JSON.stringify({ text: textOf(n) }) },
    });
  collect();
  const before = process.memoryUsage().heapUsed;
  const count = 15_000;
  for (let n = 0; n < count; n += 100) {
    store.remember(
      n,
      Array.from({ length: 100 }, (_, i) => entryOf(n + i)),
    );
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * 1024 * 1024);
  const positions = [0, 1, 777, count - 1];
  const messages = await store.read(positions);
  expect(messages).toMatchObject(
    positions.map((n) => ({ position: n, seq: n + 1, by: 'ada', body: { text: textOf(n) } })),
  );
});
