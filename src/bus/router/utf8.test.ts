/** Bytes that are no UTF-8, cut anywhere: exactly the messages that hold them are thrown away. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ByteLine } from '../process/byte-line.ts';
import { createLengthSplitter, createLineSplitter } from '../process/frames.ts';
import { createUtf8Check, GARBLED } from './utf8.ts';

const NEWLINE_BYTE = 0x0a;

/** Another judge than the one that is tested. */
function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function screened(framing: 'ndjson' | 'length', chunks: readonly Buffer[]): ByteLine[] {
  const check = createUtf8Check();
  const seen: ByteLine[] = [];
  const create = framing === 'ndjson' ? createLineSplitter : createLengthSplitter;
  const splitter = create(10_000, {
    onLines: (lines) => seen.push(...check.screen(lines)),
    onTooLarge: (bytes) => expect.unreachable(`${bytes} bytes`),
  });
  for (const chunk of chunks) {
    check.look(chunk);
    splitter.push(chunk);
  }
  splitter.end();
  return seen;
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

function framed(framing: 'ndjson' | 'length', messages: readonly Buffer[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      if (framing === 'ndjson') return [message, Buffer.from('\n')];
      const head = Buffer.alloc(4);
      head.writeUInt32BE(message.length);
      return [head, message];
    }),
  );
}

const text = fc.string({ unit: 'binary', maxLength: 80 }).map((one) => Buffer.from(one));
const rubbish = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const message = fc
  .oneof(text, rubbish, fc.constant(Buffer.from('x'.repeat(200))))
  .map((inside) => inside.filter((byte) => byte !== NEWLINE_BYTE))
  .map((inside) => Buffer.concat([Buffer.from('{"t":"'), inside, Buffer.from('"}')]));
const places = fc.array(fc.nat(2_000), { maxLength: 40, size: 'max' });

test.each(['ndjson', 'length'] as const)(
  '[BD19] %s: whatever the cuts, a message passes if and only if it is UTF-8',
  (framing) => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), places, (sent, cuts) => {
        const expected = sent.map((one) => (isText(one) ? one.toString('latin1') : GARBLED));
        expect(screened(framing, cut(framed(framing, sent), cuts))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  },
);

test('[BD19] a long frame with rubbish at its beginning is known at its end, newlines and all', () => {
  const bad = Buffer.concat([
    Buffer.from('{"t":"'),
    Buffer.from([0xff]),
    Buffer.from('a\n'),
    Buffer.from('b"}'),
  ]);
  const bytes = framed('length', [bad, Buffer.from('{}')]);
  expect(screened('length', cut(bytes, [11, 12, 13, 14]))).toEqual([GARBLED, '{}']);
});

test('[BD19] what a chunk vouches for is not looked at again', () => {
  const check = createUtf8Check();
  const lines = ['{"t":"é"}' as ByteLine];
  check.look(Buffer.from('{"t":"é"}\n'));
  expect(check.screen(lines)).toBe(lines);
  check.look(Buffer.from([0xff]));
  expect(check.screen(lines)).not.toBe(lines);
  // The rest of the line that began with it, then one that did not.
  check.look(Buffer.from('"}\n'));
  expect(check.screen(lines)).not.toBe(lines);
  check.look(Buffer.from('{}\n'));
  expect(check.screen(lines)).toBe(lines);
});
