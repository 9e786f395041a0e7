import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainHead, decodeBatch, encodeBatch, entryAt, firstBadEntry, GENESIS } from './batch.ts';

const texts = fc.array(fc.string({ unit: 'binary', maxLength: 40 }), {
  minLength: 1,
  maxLength: 30,
});

test('[G5] a batch decodes to what was encoded, whole and entry by entry', () => {
  fc.assert(
    fc.property(texts, (entries) => {
      const { bytes } = encodeBatch(entries, GENESIS);
      expect(decodeBatch(bytes)).toEqual(entries);
      expect(entries.map((_, index) => entryAt(bytes, index))).toEqual(entries);
      expect(firstBadEntry(bytes)).toBe(null);
    }),
  );
});

test('[G5] many short entries are the same bytes as each alone, ASCII or among what is none', () => {
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 40 });
  const many = fc.array(ascii, { minLength: 1, maxLength: 200, size: 'max' });
  const each = (entries: readonly string[]): Buffer =>
    Buffer.concat(entries.map((entry) => encodeBatch([entry], GENESIS).bytes.subarray(4 + 8)));
  const payloads = (entries: readonly string[]): Buffer =>
    encodeBatch(entries, GENESIS).bytes.subarray(4 + 8 * entries.length);
  fc.assert(
    fc.property(many, fc.nat(250), (entries, at) => {
      expect(payloads(entries)).toEqual(each(entries));
      const mixed = entries.with(at % entries.length, 'grün ✓');
      for (const some of [mixed, entries]) {
        const { bytes } = encodeBatch(some, GENESIS);
        expect(decodeBatch(bytes)).toEqual(some);
        expect(firstBadEntry(bytes)).toBe(null);
      }
    }),
  );
});

test('[G8] a head is SHA-256 over the previous head and the bytes', () => {
  const previous = 'ab'.repeat(32);
  const { bytes, head } = encodeBatch(['a', 'ä'], previous);
  const expected = createHash('sha256').update(Buffer.from(previous, 'hex')).update(bytes);
  expect(head).toBe(expected.digest('hex'));
  expect(chainHead(previous, new Uint8Array(bytes))).toBe(head);
});

test('[G8] a changed payload byte is blamed on its own entry', () => {
  const entries = ['first', 'second', '', 'fourth'];
  const { bytes } = encodeBatch(entries, GENESIS);
  let at = 4 + 8 * entries.length;
  for (const [index, entry] of entries.entries()) {
    for (let offset = 0; offset < entry.length; offset++, at++) {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      expect(firstBadEntry(copy)).toBe(index);
      expect(entryAt(copy, index)).toBe(null);
    }
  }
  expect(at).toBe(bytes.length);
});

test('[G8] bytes cut short or made longer are never taken for a batch', () => {
  const { bytes } = encodeBatch(['first', 'second'], GENESIS);
  for (let length = 0; length < bytes.length; length++) {
    expect(firstBadEntry(bytes.subarray(0, length))).not.toBe(null);
  }
  expect(firstBadEntry(Buffer.concat([bytes, Buffer.from([0])]))).not.toBe(null);
});

test('[G5] text that UTF-8 cannot hold is refused instead of changed', () => {
  expect(() => encodeBatch(['fine', '\ud800'], GENESIS)).toThrow(TypeError);
  // Side by side they would be a letter.
  expect(() => encodeBatch(['\ud83d', '\ude00'], GENESIS)).toThrow(TypeError);
});
