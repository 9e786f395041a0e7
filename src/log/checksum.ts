/**
 * CRC-32 of bytes, as zlib has it. A call into zlib costs as much as half a kilobyte is worth, and most entries are
 * shorter: these are summed here, eight bytes at a time.
 */
import { crc32 } from 'node:zlib';

const NATIVE_BYTES_MIN = 512;

/** At `256 * n + byte`: what a byte comes to that n others follow. */
const TABLE: Int32Array = createTable();

export function checksum(bytes: Buffer, start: number, end: number): number {
  if (end - start >= NATIVE_BYTES_MIN) return crc32(bytes.subarray(start, end));
  let crc = -1;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    crc ^= byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8);
    crc ^= (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24);
    crc =
      step(7, crc & 255) ^
      step(6, (crc >>> 8) & 255) ^
      step(5, (crc >>> 16) & 255) ^
      step(4, crc >>> 24) ^
      step(3, byteAt(bytes, at + 4)) ^
      step(2, byteAt(bytes, at + 5)) ^
      step(1, byteAt(bytes, at + 6)) ^
      step(0, byteAt(bytes, at + 7));
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ step(0, (crc ^ byteAt(bytes, at)) & 255);
  return ~crc >>> 0;
}

function byteAt(bytes: Buffer, at: number): number {
  return bytes[at] as number;
}

function step(followers: number, byte: number): number {
  return TABLE[256 * followers + byte] as number;
}

function createTable(): Int32Array {
  const table = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  for (let at = 256; at < table.length; at++) {
    const before = table[at - 256] as number;
    table[at] = (before >>> 8) ^ (table[before & 255] as number);
  }
  return table;
}
