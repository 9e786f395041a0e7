/**
 * Whether what came is UTF-8, asked of whole chunks, which is nearly free; single messages are
 * looked at only around bytes that a chunk alone cannot vouch for: a character cut in two, a length
 * that looks like one, or indeed rubbish. A message that is no UTF-8 becomes `GARBLED` in its
 * place [BD19].
 */
import { isUtf8 } from 'node:buffer';
import type { ByteLine } from '../process/byte-line.ts';

/** Stands for a message that was thrown away; as bytes it is no UTF-8 either. */
export const GARBLED: ByteLine = '\xff' as ByteLine;

const NOT_ASCII = /[^\0-\x7f]/;

export interface Utf8Check {
  /** Before the chunk is split. */
  look(chunk: Buffer): void;
  /** The messages that ended in it, those that are no UTF-8 exchanged; the same list if it can be. */
  screen(lines: ByteLine[]): ByteLine[];
}

export function createUtf8Check(): Utf8Check {
  let isGood = true;
  /** A message that ends in this chunk may hold bytes that were not checked. */
  let isSuspect = false;
  /** So may the one whose end is still to come. */
  let isRestSuspect = false;
  return {
    look(chunk) {
      // A length whose bytes make a character with those beside it is no way in: what such a
      // message begins or ends with is not JSON.
      isGood = isUtf8(chunk);
      isSuspect = isRestSuspect || !isGood;
      isRestSuspect = isSuspect;
    },
    screen(lines) {
      if (!isSuspect) return lines;
      // Something ended here, so what is left began here.
      isRestSuspect = !isGood;
      return lines.map((line) => (isText(line) ? line : GARBLED));
    },
  };
}

function isText(line: ByteLine): boolean {
  return !NOT_ASCII.test(line) || isUtf8(Buffer.from(line, 'latin1'));
}
