/**
 * One segment file of the file log: its layout, and the walk over its records.
 *
 * Layout: a header (magic, crc32 of the rest, first position, the head before
 * it), then records (magic, byte length, head, batch bytes); numbers little-endian. A walk stops at the
 * first thing that is not a record and says where, and never decides what to do about it.
 */
import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { batchCount, chainHead, firstBadEntry, HEAD_BYTES } from './batch.ts';
import type { StoredBatch } from './log.ts';

// FF and FE never occur in UTF-8, so no entry can hold what looks like the start of a record.
const SEGMENT_MAGIC = 0xff_53_53_fe;
const RECORD_MAGIC = 0xff_52_53_fe;

/** magic u32, crc32 u32, first u64, previous head. */
export const SEGMENT_HEADER_BYTES = 48;
/** magic u32, length u32, head. */
export const RECORD_HEADER_BYTES = 40;

/** Bytes read from the file at once. */
const WINDOW_BYTES = 1 << 17;

export interface SegmentHeader {
  readonly first: number;
  readonly previous: string;
}

export function encodeSegmentHeader({ first, previous }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.writeUInt32LE(SEGMENT_MAGIC, 0);
  bytes.writeBigUInt64LE(BigInt(first), 8);
  bytes.write(previous, 16, 'hex');
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return bytes;
}

/** The header of an open segment file; null when it is cut short or damaged. */
export function readSegmentHeader(handle: number): SegmentHeader | null {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const length = readSync(handle, bytes, 0, SEGMENT_HEADER_BYTES, 0);
  if (length < SEGMENT_HEADER_BYTES || bytes.readUInt32LE(0) !== SEGMENT_MAGIC) return null;
  if (bytes.readUInt32LE(4) !== crc32(bytes.subarray(8))) return null;
  return { first: Number(bytes.readBigUInt64LE(8)), previous: bytes.toString('hex', 16) };
}

export function encodeRecordHeader(batch: StoredBatch): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES);
  bytes.writeUInt32LE(RECORD_MAGIC, 0);
  bytes.writeUInt32LE(batch.bytes.byteLength, 4);
  bytes.write(batch.head, 8, 'hex');
  return bytes;
}

/** Where a record lies; its bytes are read when asked for. */
export interface RecordPlace {
  readonly first: number;
  readonly count: number;
  readonly head: string;
  readonly offset: number;
  /** Header and bytes together. */
  readonly size: number;
}

/** Reads through one segment file by window, so that small records cost no system call each. */
export interface SegmentReader {
  /** The record at `offset`, known to start at position `first`; null when there is no whole record. */
  place(offset: number, first: number): RecordPlace | null;
  batch(place: RecordPlace): StoredBatch;
  /** `length` bytes from `offset`, or as many as there are. */
  slice(offset: number, length: number): Buffer;
}

/** `end` is how far the file is ours to read: what lies behind it may be half written. */
export function createSegmentReader(handle: number, end: () => number): SegmentReader {
  let window: Buffer = Buffer.alloc(0);
  let start = 0;

  function slice(offset: number, length: number): Buffer {
    if (offset < start || offset + length > start + window.length) {
      const wanted = Math.min(Math.max(length, WINDOW_BYTES), Math.max(0, end() - offset));
      // Fresh memory each time: batches handed out are views of the window they were read in.
      const fresh = Buffer.allocUnsafe(wanted);
      let filled = 0;
      for (let got = 1; got > 0 && filled < fresh.length; filled += got) {
        got = readSync(handle, fresh, filled, fresh.length - filled, offset + filled);
      }
      window = fresh.subarray(0, filled);
      start = offset;
    }
    return window.subarray(offset - start, offset - start + length);
  }

  return {
    slice,
    place(offset, first) {
      const header = slice(offset, RECORD_HEADER_BYTES + 4);
      if (header.length < RECORD_HEADER_BYTES + 4) return null;
      if (header.readUInt32LE(0) !== RECORD_MAGIC) return null;
      const size = RECORD_HEADER_BYTES + header.readUInt32LE(4);
      const count = header.readUInt32LE(RECORD_HEADER_BYTES);
      if (count === 0 || offset + size > end()) return null;
      return { first, count, head: header.toString('hex', 8, 8 + HEAD_BYTES), offset, size };
    },
    batch({ first, count, head, offset, size }) {
      return { first, count, bytes: slice(offset, size).subarray(RECORD_HEADER_BYTES), head };
    },
  };
}

/** Whether a stored batch is whole and chained to `previous`. */
export function isSound(batch: StoredBatch, previous: string): boolean {
  return (
    batchCount(batch.bytes) === batch.count &&
    chainHead(previous, batch.bytes) === batch.head &&
    firstBadEntry(batch.bytes) === null
  );
}

/**
 * The offset of a record that verifies by its checksums at or behind `from`, or null.
 *
 * This tells damage from a torn tail: a crash tears only the last write, so
 * anything sound behind a bad record means the bad one was once whole.
 */
export function findSoundRecord(handle: number, from: number, end: number): number | null {
  const reader = createSegmentReader(handle, () => end);
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(RECORD_MAGIC, 0);
  for (let base = from; base < end; base += WINDOW_BYTES - magic.length + 1) {
    const window = reader.slice(base, WINDOW_BYTES);
    for (let hit = window.indexOf(magic); hit >= 0; hit = window.indexOf(magic, hit + 1)) {
      const place = reader.place(base + hit, 0);
      if (place === null) continue;
      const { bytes, count } = reader.batch(place);
      if (batchCount(bytes) === count && firstBadEntry(bytes) === null) return base + hit;
    }
  }
  return null;
}
