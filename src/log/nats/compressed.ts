/**
 * What goes by NATS compressed, since each node writes and sends on every byte, and what is in a batch is much alike. The
 * chain of a log is made of what its batches were before [NL9].
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** What is smaller costs more to compress, and to take apart at each server, than it saves. */
const BYTES_MIN = 2_048;
/** Nobody's batch is larger: a few bytes that say so would fill the memory of whoever reads them. */
export const PLAIN_BYTES_MAX: number = 256 * 1024 * 1024;
/** The next levels take half as long again, for a tenth less. */
const LEVEL = 1;
const CHUNK_BYTES = 64 * 1024;
const OPTIONS = {
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
  chunkSize: CHUNK_BYTES,
} as const;
/** By so much it is smaller, or stays as it is. */
const GAIN = 1 / 8;

/** Null where it is better kept as it is. */
export function compress(bytes: Uint8Array): Uint8Array | null {
  const { byteLength } = bytes;
  if (byteLength < BYTES_MIN || byteLength > PLAIN_BYTES_MAX) return null;
  const compressed = zstdCompressSync(bytes, OPTIONS);
  return compressed.byteLength <= byteLength * (1 - GAIN) ? compressed : null;
}

/** Null when that is not what so many bytes were compressed to. */
export function decompress(compressed: Uint8Array, plainBytes: number): Uint8Array | null {
  try {
    // In one piece; a byte more of room, else it would look for a second.
    const room = { chunkSize: Math.max(plainBytes + 1, CHUNK_BYTES), maxOutputLength: plainBytes };
    const plain = zstdDecompressSync(compressed, room);
    return plain.byteLength === plainBytes ? plain : null;
  } catch {
    return null;
  }
}
