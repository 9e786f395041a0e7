/**
 * `node:crypto` when it is needed: most buses on stdio never hash anything, and it takes 3 MB and a tenth of
 * their start. What nobody shall guess comes from the system itself, where that hands it out as a file.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const SOURCE = '/dev/urandom';
const UNIQUE_BYTES = 16;

export function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}

/** Thirty-two letters and digits that nobody else has, and nobody can guess. */
export function uniqueText(): string {
  return (readSource() ?? loadCrypto().randomBytes(UNIQUE_BYTES)).toString('hex');
}

function readSource(): Buffer | null {
  const bytes = Buffer.alloc(UNIQUE_BYTES);
  let handle: number;
  try {
    handle = openSync(SOURCE, 'r');
  } catch {
    // Windows has none, and a narrow sandbox may not show it.
    return null;
  }
  try {
    return readSync(handle, bytes) === UNIQUE_BYTES ? bytes : null;
  } finally {
    closeSync(handle);
  }
}
