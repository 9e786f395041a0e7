/** Ids of new traces and spans: random, and never all zeros. */
import { randomFillSync } from 'node:crypto';

const POOL = Buffer.alloc(4_096);
// Asking the system for every id costs more than the rest of a span.
let used = POOL.length;

const ZEROS = /^0+$/;

function randomHex(bytes: number): string {
  if (used + bytes > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const text = POOL.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}

export function newTraceId(): string {
  const id = randomHex(16);
  return ZEROS.test(id) ? newTraceId() : id;
}

export function newSpanId(): string {
  const id = randomHex(8);
  return ZEROS.test(id) ? newSpanId() : id;
}
