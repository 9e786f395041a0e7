/**
 * JSON, checked and not built: every function takes a text and the place where something begins, and
 * answers where it ends. It accepts what RFC 8259 accepts, up to a depth, and nothing else [EN1].
 *
 * A negative answer is a problem, with its place inside: `problemAt`. Nothing is thrown and nothing
 * allocated, since every message of the bus passes here. The byte behind the last one must be zero:
 * JSON has no place for it, so that nothing ever looks further.
 */
import type { ByteLine } from './byte-line.ts';

/** Objects and arrays inside of each other; a parser that recurses survives so many. */
export const DEPTH_MAX = 512;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;

/** Longer than any string of V8: tells the two kinds of problems apart. */
const FAR = 2 ** 29;

/** So much of a string is looked at byte by byte, before four at once are worth their beginning. */
const NEAR_BYTES = 32;
const WORD_BYTES = 4;
/** In each byte of a word: its highest bit, its lowest, a backslash. */
const HIGH = 0x80808080 | 0;
const LOW = 0x01010101;
const BACKSLASHES = 0x5c5c5c5c;
/** The bit in which a quote differs from a space: with it changed a quote and what may not stand in a string are all that is below 33. */
const QUOTE_BITS = 0x02020202;
const BOUNDS = 0x21212121;

/** Lines up to this length share one place for their bytes; longer ones get one that is not kept. */
const SCRATCH_BYTES_MIN = 65_536;
const SCRATCH_BYTES_MAX = 1_048_576;
let scratch = Buffer.alloc(SCRATCH_BYTES_MIN);
let scratchWords = wordsOf(scratch);
/** The same four bytes at a time, of the line that is looked at. */
let words = scratchWords;

function wordsOf({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  return new Int32Array(buffer, byteOffset, Math.floor(length / WORD_BYTES));
}

/**
 * The bytes of a line, and a zero. Strings that are windows are slow to read a character at a time:
 * it is worth a copy, and for most lines not even an allocation. They are valid until the next call.
 */
export function bytesOf(line: ByteLine): Uint8Array {
  const { length } = line;
  let bytes = scratch;
  words = scratchWords;
  if (length >= scratch.length) {
    const room = 2 ** Math.ceil(Math.log2(length + 1));
    bytes = Buffer.alloc(room);
    words = wordsOf(bytes);
    if (room <= SCRATCH_BYTES_MAX) {
      scratch = bytes;
      scratchWords = words;
    }
  }
  bytes.write(line, 0, length, 'latin1');
  bytes[length] = 0;
  return bytes;
}

/** The bytes of a long line are not needed any more. */
export function letGo(): void {
  words = scratchWords;
}

export type JsonProblem = 'syntax' | 'too-deep';

export function problemAt(answer: number): { problem: JsonProblem; at: number } {
  const at = -1 - answer;
  return at < FAR ? { problem: 'syntax', at } : { problem: 'too-deep', at: at - FAR };
}

/** The first place from `at` on that is not white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  for (;;) {
    const byte = bytes[at] as number;
    if (byte > SPACE) return at;
    if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

/** A value from its first byte. `depth` is the number of objects and arrays around it. */
export function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return skipString(bytes, at + 1);
    case OPEN_OBJECT:
      return depth < DEPTH_MAX ? skipObject(bytes, at + 1, depth + 1) : -1 - at - FAR;
    case OPEN_ARRAY:
      return depth < DEPTH_MAX ? skipArray(bytes, at + 1, depth + 1) : -1 - at - FAR;
    case 0x74:
      return skipWord(bytes, at, TRUE);
    case 0x66:
      return skipWord(bytes, at, FALSE);
    case 0x6e:
      return skipWord(bytes, at, NULL);
    default:
      return skipNumber(bytes, at);
  }
}

/** A string from behind its opening quote to behind its closing one. */
export function skipString(bytes: Uint8Array, at: number): number {
  for (;;) {
    for (const near = at + NEAR_BYTES; at < near; ) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return at + 1;
      if (byte < SPACE) return -1 - at;
      if (byte !== BACKSLASH) at++;
      else {
        at = skipEscape(bytes, at);
        if (at < 0) return at;
      }
    }
    at = skipWords(bytes, at);
  }
}

/** Over words of which no byte ends a string, escapes something or may not stand in it. */
function skipWords(bytes: Uint8Array, at: number): number {
  // A variable of the module, and its length, would be looked up for each word.
  const view = words;
  const end = view.length;
  let i = Math.trunc((at + WORD_BYTES - 1) / WORD_BYTES);
  // Up to the first whole word it is for the bytes.
  for (let one = at; one < i * WORD_BYTES; one++) if (!isPlain(bytes[one] as number)) return one;
  for (; i < end; i++) {
    const word = view[i] as number;
    const low = word ^ QUOTE_BITS;
    const backslash = word ^ BACKSLASHES;
    // A byte below n is what n taken from it borrows for, unless its highest bit was set before.
    const found = ((low - BOUNDS) & ~low) | ((backslash - LOW) & ~backslash);
    if ((found & HIGH) !== 0) break;
  }
  return Math.max(at, i * WORD_BYTES);
}

function isPlain(byte: number): boolean {
  return byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH;
}

function skipEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i] as number)) return -1 - i;
      return at + 6;
    default:
      return -1 - at;
  }
}

function isHex(byte: number): boolean {
  // Small letters differ from capitals in one bit.
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}

function skipDigits(bytes: Uint8Array, at: number): number {
  while (isDigit(bytes[at] as number)) at++;
  return at;
}

function skipNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start;
  let at = skipDigits(bytes, first);
  // No digit, or others behind a zero.
  if (at === first || (at > first + 1 && bytes[first] === ZERO)) return -1 - first;
  if (bytes[at] === POINT) {
    const fraction = at + 1;
    at = skipDigits(bytes, fraction);
    if (at === fraction) return -1 - at;
  }
  if (((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[at + 1];
    const exponent = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    at = skipDigits(bytes, exponent);
    if (at === exponent) return -1 - at;
  }
  return at;
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  return isAt(bytes, at, word) ? at + word.length : -1 - at;
}

export function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

/** From behind the opening bracket to behind the closing one. */
function skipArray(bytes: Uint8Array, at: number, depth: number): number {
  at = skipSpace(bytes, at);
  if (bytes[at] === CLOSE_ARRAY) return at + 1;
  for (;;) {
    at = skipValue(bytes, at, depth);
    if (at < 0) return at;
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_ARRAY) return at + 1;
    if (bytes[at] !== COMMA) return -1 - at;
    at = skipSpace(bytes, at + 1);
  }
}

/** From behind the opening brace to behind the closing one. */
function skipObject(bytes: Uint8Array, at: number, depth: number): number {
  at = skipSpace(bytes, at);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return -1 - at;
    at = skipString(bytes, at + 1);
    if (at < 0) return at;
    at = skipColon(bytes, at);
    if (at < 0) return at;
    at = skipValue(bytes, at, depth);
    if (at < 0) return at;
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) return -1 - at;
    at = skipSpace(bytes, at + 1);
  }
}

/** From behind a key to the beginning of its value. */
export function skipColon(bytes: Uint8Array, at: number): number {
  at = skipSpace(bytes, at);
  return bytes[at] === COLON ? skipSpace(bytes, at + 1) : -1 - at;
}
