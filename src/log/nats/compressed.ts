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
const PARAMS = { [constants.ZSTD_c_compressionLevel]: LEVEL };
/** What comes of it is handed out in buffers so large, each of which is memory until it is collected: most have room in one. */
const SMALLER_BY = 4;
const ROOM_BYTES_MIN = 1_024;
/** By so much it is smaller, or stays as it is. */
const GAIN = 1 / 8;

/** Null where it is better kept as it is. */
export function compress(bytes: Uint8Array): Uint8Array | null {
  const { byteLength } = bytes;
  if (byteLength < BYTES_MIN || byteLength > PLAIN_BYTES_MAX) return null;
  const chunkSize = Math.max(ROOM_BYTES_MIN, Math.ceil(byteLength / SMALLER_BY));
  // Told how much comes, it makes ready for no more.
  const compressed = alone(
    zstdCompressSync(bytes, {
      ...{ params: PARAMS, chunkSize, pledgedSrcSize: byteLength, info: true },
    }),
  );
  return compressed.byteLength <= byteLength * (1 - GAIN) ? compressed : null;
}

/** Null when that is not what so many bytes were compressed to. */
export function decompress(compressed: Uint8Array, plainBytes: number): Uint8Array | null {
  try {
    // In one piece; a byte more of room, else it would look for a second.
    const chunkSize = Math.max(plainBytes + 1, ROOM_BYTES_MIN);
    const room = { chunkSize, maxOutputLength: plainBytes, info: true };
    const plain = alone(zstdDecompressSync(compressed, room));
    return plain.byteLength === plainBytes ? plain : null;
  } catch {
    return null;
  }
}

/**
 * What came of it, without what made that. This is found dead only when all memory is collected, and until then it has the
 * first buffer that it wrote to: a busy space would leave 40 MB a second behind.
 */
function alone(made: unknown): Buffer {
  const { buffer, engine } = made as { buffer: Buffer; engine: { _outBuffer: unknown } };
  engine._outBuffer = null;
  return buffer;
}
