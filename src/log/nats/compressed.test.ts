import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compress, decompress } from './compressed.ts';

const ALIKE = Buffer.from(
  Array.from({ length: 500 }, (_, n) => `{"seq":${n},"text":"grün"}`).join('\n'),
);

test('[NL9] what is alike becomes small, and what is short or gains nothing stays as it is', () => {
  const compressed = compress(ALIKE) as Uint8Array;
  expect(compressed.byteLength).toBeLessThan(ALIKE.byteLength / 4);
  expect(decompress(compressed, ALIKE.byteLength)).toEqual(ALIKE);
  expect(compress(randomBytes(100_000))).toBeNull();
  expect(compress(ALIKE.subarray(0, 1_000))).toBeNull();
  expect(decompress(compressed, ALIKE.byteLength - 1)).toBeNull();
  expect(decompress(compressed, ALIKE.byteLength + 1)).toBeNull();
  expect(decompress(compressed.subarray(0, -1), ALIKE.byteLength)).toBeNull();
});

test('[NL9] what is taken from the one that compressed is still where it was', () => {
  const made = zstdCompressSync(ALIKE, { info: true }) as unknown as { engine: object };
  // Node's own name, which no document promises: were it another, the buffer would be kept with it again.
  expect(made.engine).toHaveProperty('_outBuffer', expect.any(Buffer));
});
