import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvents } from './sse.ts';

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length) return;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

test('[WP15] events are the same wherever the bytes are cut, with any line end', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ' '));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }),
      async (events, end, sizes) => {
        const text = events
          .map(
            (lines) =>
              `: hm${end}event: x${end}${lines.map((one) => `data: ${one}${end}`).join('')}${end}`,
          )
          .join('');
        const read: string[] = [];
        for await (const event of readEvents(cut(Buffer.from(`${text}data: lost`), sizes)))
          read.push(event);
        expect(read).toEqual(events.map((lines) => lines.join('\n')));
      },
    ),
  );
});

test('[WP15] an event without an end is refused before it fills the memory', async () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    const chunk = Buffer.from('x'.repeat(65_536));
    yield Buffer.from('data: ');
    for (;;) yield chunk;
  }
  await expect(readEvents(endless()).next()).rejects.toThrow(/more than \d+ characters/);
});
