import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checksum } from './checksum.ts';

test('[G8] a checksum is the one that zlib has, of few bytes and of many, wherever they lie', () => {
  const pieces = fc.record({
    bytes: fc.uint8Array({ maxLength: 1_200, size: 'max' }),
    start: fc.nat(40),
    cut: fc.nat(40),
  });
  fc.assert(
    fc.property(pieces, ({ bytes, start, cut }) => {
      const buffer = Buffer.from(bytes);
      const from = Math.min(start, buffer.length);
      const end = Math.max(from, buffer.length - cut);
      expect(checksum(buffer, from, end)).toBe(crc32(buffer.subarray(from, end)));
    }),
  );
});
