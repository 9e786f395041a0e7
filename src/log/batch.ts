/**
 * The bytes of one append, and the chain that ties it to the one before.
 *
 * Layout: u32 count, then u32 byteLength and u32 crc32 per entry, then the
 * UTF-8 payloads; all numbers little-endian. The head of a batch is SHA-256 over the previous
 * head's 32 bytes and the batch's bytes. Decoding trusts nothing: bytes whose
 * lengths do not add up are refused, and a wrong checksum names its entry.
 */
import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { checksum } from './checksum.ts';

/** The head of a log that holds nothing. */
export const GENESIS: string = '0'.repeat(64);

/** The bytes of a head; a segment and a record carry it raw. */
export const HEAD_BYTES = 32;

const COUNT_BYTES = 4;
const ENTRY_HEADER_BYTES = 8;

export interface EncodedBatch {
  readonly bytes: Buffer;
  readonly head: string;
}

/** Encodes one append into one allocation; the previous head sits in front of it so that hashing copies nothing. */
export function encodeBatch(entries: readonly string[], previousHead: string): EncodedBatch {
  const front = HEAD_BYTES + COUNT_BYTES + ENTRY_HEADER_BYTES * entries.length;
  const plain = plainRuns(entries);
  const chained = Buffer.allocUnsafe(
    front + (plain === null ? textBytes(entries) : charsOf(entries)),
  );
  chained.write(previousHead, 0, 'hex');
  if (plain !== null) writeRuns(chained, plain, front);
  let header = chained.writeUInt32LE(entries.length, HEAD_BYTES);
  let payload = front;
  for (const entry of entries) {
    const length = plain !== null ? entry.length : chained.write(entry, payload);
    header = chained.writeUInt32LE(length, header);
    header = chained.writeUInt32LE(checksum(chained, payload, payload + length), header);
    payload += length;
  }
  return { bytes: chained.subarray(HEAD_BYTES), head: hash('sha256', chained, 'hex') };
}

/** How many batches are not looked at when one was not ASCII: they come in runs, and looking in vain is dear. */
const WIDE_BATCHES = 16;
let wideBatches = 0;
/** Beside what longer entries cost, the calls that are saved are nothing. */
const SHORT_CHARS_MAX = 1024;

/** So many are one text: one of much more than 100 KB would have memory of its own. */
const RUN_ENTRIES = 64;

/** Short entries as a few texts, which are measured and written at once; null when they are not ASCII, or not looked at. */
function plainRuns(entries: readonly string[]): string[] | null {
  for (const { length } of entries) if (length > SHORT_CHARS_MAX) return null;
  if (wideBatches > 0) {
    wideBatches--;
    return null;
  }
  const runs: string[] = [];
  for (let from = 0; from < entries.length; from += RUN_ENTRIES) {
    const run = entries.slice(from, from + RUN_ENTRIES).join('');
    if (Buffer.byteLength(run) !== run.length) {
      wideBatches = WIDE_BATCHES;
      return null;
    }
    runs.push(run);
  }
  return runs;
}

function writeRuns(bytes: Buffer, runs: readonly string[], from: number): void {
  let at = from;
  for (const run of runs) at += bytes.write(run, at, 'latin1');
}

function charsOf(texts: readonly string[]): number {
  let chars = 0;
  for (const { length } of texts) chars += length;
  return chars;
}

function textBytes(entries: readonly string[]): number {
  let bytes = 0;
  for (const entry of entries) {
    // UTF-8 has no lone surrogate: it would come back as another string than the one appended.
    if (!entry.isWellFormed()) throw new TypeError('an entry must be well-formed Unicode');
    bytes += Buffer.byteLength(entry);
  }
  return bytes;
}

/** The head that stored bytes must have after `previousHead`. */
export function chainHead(previousHead: string, bytes: Uint8Array): string {
  // In two pieces: a batch is large, and a copy of it costs more than half as much as its hash.
  return createHash('sha256').update(previousHead, 'hex').update(bytes).digest('hex');
}

/** How many entries the bytes say they hold; null when they cannot be a batch at all. */
export function batchCount(bytes: Uint8Array): number | null {
  if (bytes.byteLength < COUNT_BYTES) return null;
  const count = asBuffer(bytes).readUInt32LE(0);
  return COUNT_BYTES + ENTRY_HEADER_BYTES * count <= bytes.byteLength ? count : null;
}

/**
 * The index of the first entry whose stored bytes are not the ones appended,
 * or null when all are. Lengths that do not add up blame the entry they fail at.
 */
export function firstBadEntry(bytes: Uint8Array): number | null {
  const buffer = asBuffer(bytes);
  const count = batchCount(bytes);
  if (count === null) return 0;
  let header = COUNT_BYTES;
  let payload = COUNT_BYTES + ENTRY_HEADER_BYTES * count;
  for (let index = 0; index < count; index++) {
    const end = payload + buffer.readUInt32LE(header);
    if (end > buffer.length) return index;
    if (checksum(buffer, payload, end) !== buffer.readUInt32LE(header + 4)) return index;
    header += ENTRY_HEADER_BYTES;
    payload = end;
  }
  return payload === buffer.length ? null : Math.max(0, count - 1);
}

/** Every entry of a batch, in order. Checks the shape; `firstBadEntry` checks the content. */
export function decodeBatch(bytes: Uint8Array): string[] {
  const count = batchCount(bytes) ?? malformed();
  const entries = new Array<string>(count);
  let payload = COUNT_BYTES + ENTRY_HEADER_BYTES * count;
  const buffer = asBuffer(bytes);
  for (let index = 0; index < count; index++) {
    const end = payload + buffer.readUInt32LE(COUNT_BYTES + ENTRY_HEADER_BYTES * index);
    if (end > buffer.length) malformed();
    entries[index] = buffer.toString('utf8', payload, end);
    payload = end;
  }
  return entries;
}

/** One entry of a batch without decoding the others; null when its checksum is wrong. */
export function entryAt(bytes: Uint8Array, index: number): string | null {
  const buffer = asBuffer(bytes);
  const count = batchCount(bytes) ?? malformed();
  if (index < 0 || index >= count) malformed();
  const place = entryPlace(buffer, count, index);
  const end = place.start + place.length;
  return end > buffer.length ? null : checkedText(buffer.subarray(place.start, end), place);
}

/** Where the payload of an entry lies among the bytes of its batch, and its checksum. */
export interface EntryPlace {
  readonly start: number;
  readonly length: number;
  readonly crc: number;
}

/** How much of a batch's front says where an entry lies. */
export function frontBytes(index: number): number {
  return COUNT_BYTES + ENTRY_HEADER_BYTES * (index + 1);
}

/** Told by the front of a batch of `count` entries. */
export function entryPlace(front: Buffer, count: number, index: number): EntryPlace {
  const header = COUNT_BYTES + ENTRY_HEADER_BYTES * index;
  let start = COUNT_BYTES + ENTRY_HEADER_BYTES * count;
  for (let at = COUNT_BYTES; at < header; at += ENTRY_HEADER_BYTES) {
    start += front.readUInt32LE(at);
  }
  return { start, length: front.readUInt32LE(header), crc: front.readUInt32LE(header + 4) };
}

/** The text of a payload; null when its checksum is wrong. */
export function checkedText(payload: Buffer, { crc }: EntryPlace): string | null {
  return crc32(payload) === crc ? payload.toString('utf8') : null;
}

/** A Buffer over the same memory: stores hand out plain Uint8Arrays. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function malformed(): never {
  throw new RangeError('these bytes are not a batch');
}
