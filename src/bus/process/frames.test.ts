/** Frames, cut anywhere: the messages come out as they went in. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ByteLine, lineOf } from './byte-line.ts';
import {
  createLengthSplitter,
  createLineSplitter,
  detached,
  frameLines,
  joinLines,
  oneLine,
  type Splitter,
} from './frames.ts';

type Seen = ByteLine | { readonly tooLarge: number };
type Create = typeof createLineSplitter;

const BYTES_MAX = 20;
const NEWLINE_BYTE = 0x0a;

/** What a splitter makes of these chunks, in order. */
function split(create: Create, chunks: readonly Buffer[], bytesMax = BYTES_MAX) {
  const seen: Seen[] = [];
  const batches: number[] = [];
  const splitter: Splitter = create(bytesMax, {
    onLines: (lines) => {
      batches.push(lines.length);
      seen.push(...lines);
    },
    onTooLarge: (bytes) => seen.push({ tooLarge: bytes }),
  });
  for (const chunk of chunks) splitter.push(chunk);
  return { seen, batches, left: splitter.end() };
}

/** The bytes in chunks that end at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  const chunks: Buffer[] = [];
  let at = 0;
  for (const end of [...ends, bytes.length]) {
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

/** The seen things, with the size of what was too large left out: it depends on the cuts. */
const shapes = (seen: readonly Seen[]) => seen.map((one) => (typeof one === 'string' ? one : null));

const places = fc.array(fc.nat(2000), { maxLength: 40, size: 'max' });
const message = fc
  .uint8Array({ maxLength: BYTES_MAX + 6, size: 'max' })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== NEWLINE_BYTE)));
const ending = fc.constantFrom('\n', '\r\n');

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('[FR1] [FR2] lines come out the same however they were cut; the too long ones are told once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(message, ending), { maxLength: 12 }), places, (sent, cuts) => {
      const bytes = Buffer.concat(sent.flatMap(([line, end]) => [line, Buffer.from(end)]));
      const expected = bytes
        .toString('latin1')
        .split('\n')
        .map((line) => line.replace(/\r$/, ''))
        .map((line) => (line.length > BYTES_MAX ? null : line))
        .filter((line) => line === null || /[^ \t\r]/.test(line));
      expect(shapes(split(createLineSplitter, cut(bytes, cuts)).seen)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test('[FR1] [FR2] length frames come out the same however they were cut', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), places, (sent, cuts) => {
      const bytes = Buffer.from(
        frameLines(sent.map((one) => one.toString('latin1') as ByteLine)),
        'latin1',
      );
      const expected = sent
        .filter((one) => one.length > 0)
        .map((one) => (one.length > BYTES_MAX ? { tooLarge: one.length } : one.toString('latin1')));
      const { seen, left } = split(createLengthSplitter, cut(bytes, cuts));
      expect(seen).toEqual(expected);
      expect(left).toBe(0);
    }),
    { numRuns: 2000 },
  );
});

test('[FR1] the lines of one chunk come at once', () => {
  const lines = Buffer.from('{"a":1}\n{"b":2}\r\n\n  \r\n{"c":3}\n{"d"');
  const { seen, batches } = split(createLineSplitter, [lines, Buffer.from(':4}\n')]);
  expect(batches).toEqual([3, 1]);
  expect(seen).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}']);
});

test('[FR2] the limit is for the line without its line break', () => {
  const fits = 'x'.repeat(BYTES_MAX);
  for (const cuts of [[], [BYTES_MAX], [BYTES_MAX + 1], [BYTES_MAX, BYTES_MAX + 1]]) {
    const chunks = (text: string) => cut(Buffer.from(text), cuts);
    expect(split(createLineSplitter, chunks(`${fits}\r\nz\n`)).seen).toEqual([fits, 'z']);
    expect(shapes(split(createLineSplitter, chunks(`${fits}y\r\nz\n`)).seen)).toEqual([null, 'z']);
    expect(shapes(split(createLineSplitter, chunks(`${fits}\ry\nz\n`)).seen)).toEqual([null, 'z']);
  }
});

test('[FR2] a line is refused when its limit is passed, not when it ends', () => {
  const seen: number[] = [];
  const splitter = createLineSplitter(BYTES_MAX, {
    onLines: () => {},
    onTooLarge: (bytes) => seen.push(bytes),
  });
  splitter.push(Buffer.alloc(30, 'x'));
  expect(seen).toEqual([30]);
  splitter.push(Buffer.alloc(30, 'x'));
  expect(seen).toEqual([30]);
});

test('[FR3] a line that never ends, and a frame of four gigabytes, are skipped and not kept', () => {
  const chunk = Buffer.alloc(65_536, 'x');
  const header = Buffer.from('\xff\xff\xff\xff', 'latin1');
  for (const [create, first] of [
    [createLineSplitter, chunk],
    [createLengthSplitter, header],
  ] as const) {
    const seen: number[] = [];
    const splitter = create(1_048_576, {
      onLines: () => {},
      onTooLarge: (bytes) => seen.push(bytes),
    });
    splitter.push(first);
    const before = heapBytes();
    for (let i = 0; i < 4096; i++) splitter.push(chunk);
    expect(heapBytes() - before).toBeLessThan(4_000_000);
    expect(seen.length).toBe(1);
  }
});

test('[FR3] a message of sixteen megabytes, in small and in large chunks, costs a few times its bytes', () => {
  const bytes = 16_000_000;
  for (const size of [7, 65_536]) {
    let seen: ByteLine[] = [];
    const splitter = createLineSplitter(bytes, {
      onLines: (lines) => {
        seen = lines;
      },
      onTooLarge: () => {},
    });
    const before = heapBytes();
    const piece = Buffer.alloc(size, 'x');
    let left = bytes;
    for (; left > size; left -= size) splitter.push(piece);
    expect(heapBytes() - before).toBeLessThan(2.5 * bytes);
    splitter.push(Buffer.from(`${'x'.repeat(left)}\n`));
    expect(seen.map((line) => line.length)).toEqual([bytes]);
  }
});

test('[FR4] at the end a line without its newline is given, half a frame is counted', () => {
  expect(split(createLineSplitter, [Buffer.from('a\n{"b":1}\r')]).seen).toEqual(['a', '{"b":1}']);
  expect(split(createLineSplitter, [Buffer.from('a\n \t')]).seen).toEqual(['a']);
  expect(shapes(split(createLineSplitter, [Buffer.alloc(50, 'x')]).seen)).toEqual([null]);
  const frame = Buffer.from(frameLines(['{"a":1}' as ByteLine]), 'latin1');
  expect(split(createLengthSplitter, [frame.subarray(0, 9)])).toMatchObject({ seen: [], left: 9 });
  expect(split(createLengthSplitter, [frame.subarray(0, 3)])).toMatchObject({ seen: [], left: 3 });
});

test('[FR5] what is joined comes out as it went in, a message a line', () => {
  const lines = fc.array(
    fc.jsonValue().map((value) => lineOf(JSON.stringify(value))),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(lines, places, (sent, cuts) => {
      const chunks = cut(Buffer.from(joinLines(sent), 'latin1'), cuts);
      expect(split(createLineSplitter, chunks, 1_000_000).seen).toEqual(sent.map(oneLine));
    }),
  );
});

test('[FR5] no line break inside of a message gets out, and the message stays the same', () => {
  const text = '{"a":\r{"id":"s1"}\n,\r\n"b":"x\u2028y\u2029z – “q”"}';
  const other = lineOf('{"c":"– only a dash"}');
  const joined = joinLines([lineOf(text), other]);
  expect(joined).not.toMatch(/\r|\xe2\x80[\xa8\xa9]/);
  const [first, second, ...rest] = Buffer.from(joined, 'latin1').toString().split('\n');
  expect(JSON.parse(first as string)).toEqual(JSON.parse(text));
  expect(lineOf(second as string)).toBe(other);
  expect(rest).toEqual(['']);
  expect(oneLine(other)).toBe(other);
  expect(joinLines([lineOf('{"a":1,\n"b":2}'), lineOf('{}')])).toBe('{"a":1, "b":2}\n{}\n');
});

test('[FR5] a reader that breaks lines wherever it can finds a message a line', async () => {
  const texts = ['{"a":"x\u2028y\u2029"}', '{"b":\r{"id":"s1"}\r}', '{"c":1}'];
  const bytes = Buffer.from(joinLines(texts.map(lineOf)), 'latin1');
  const found: unknown[] = [];
  for await (const line of createInterface({ input: Readable.from([bytes]) }))
    found.push(JSON.parse(line));
  expect(found).toEqual(texts.map((text) => JSON.parse(text)));
});

test('[FR6] a detached text lets go of the chunk it came in', () => {
  const chunk = Buffer.alloc(65_536, 'x');
  chunk.write('{"sessionId":"a session of some length"}\n', 'latin1');
  const kept: ByteLine[] = [];
  const splitter = createLineSplitter(100_000, {
    onLines: (lines) => kept.push(detached(lines[0] as ByteLine)),
    onTooLarge: () => {},
  });
  chunk[65_535] = NEWLINE_BYTE;
  const before = heapBytes();
  for (let i = 0; i < 500; i++) splitter.push(chunk);
  expect(kept.length).toBe(500);
  expect(heapBytes() - before).toBeLessThan(4_000_000);
  expect(kept[7]).toBe('{"sessionId":"a session of some length"}');
  expect(detached('ein längerer Text, 日本語')).toBe('ein längerer Text, 日本語');
});
