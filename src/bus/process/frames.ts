/**
 * Frames: where one message ends and the next begins, on a stream of bytes.
 *
 * A splitter takes chunks as they come and gives whole messages, a chunk's worth at once; the cuts
 * between chunks change nothing [FR1]. What is longer than the limit is told once and skipped
 * without being kept, and its neighbours survive [FR2]. It does not look into a message.
 *
 * The lines it gives are windows on their chunk: to keep one for long, keep `detached(line)`.
 */
import type { ByteLine } from './byte-line.ts';

export interface FrameEvents {
  /** Whole messages, in order, never an empty list. */
  onLines(lines: ByteLine[]): void;
  /** A message over the limit is being skipped; `bytes` is its length as far as it is known. */
  onTooLarge(bytes: number): void;
}

export interface Splitter {
  push(chunk: Buffer): void;
  /**
   * The stream is over. A last line without its newline is given as if it had one; a frame that
   * lacks some of its bytes is not. Answers how many bytes were thrown away for that.
   */
  end(): number;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const HEADER_BYTES = 4;
/** So many pieces are put together at once: tiny chunks must not cost more than their bytes. */
const PIECES_MAX = 256;
const BLANK = /^[ \t\r]*$/;
/** V8 copies shorter pieces of a string, and makes a window of longer ones. */
const WINDOW_CHARS_MIN = 13;
const SEPARATOR = '\xe2\x80';
const BREAK = /[\n\r]|\xe2\x80[\xa8\xa9]/g;

/** One JSON text a line: NDJSON, with `\r\n` tolerated and blank lines ignored. */
export function createLineSplitter(bytesMax: number, events: FrameEvents): Splitter {
  const carry = createCarry();
  let isSkipping = false;
  let lines: ByteLine[] = [];

  function take(line: string): void {
    const length = line.length;
    const end = line.charCodeAt(length - 1) === RETURN ? length - 1 : length;
    if (end > bytesMax) return refuse(end);
    if (line.charCodeAt(0) <= 0x20 && BLANK.test(line)) return;
    if (end > 0) lines.push((end === length ? line : line.slice(0, end)) as ByteLine);
  }

  /** Keeps the beginning of a line whose end is not there yet. */
  function hold(piece: string): void {
    const length = carry.bytes + piece.length;
    // One byte over may still be the \r of a line that fits.
    const isReturn = length === bytesMax + 1 && piece.charCodeAt(piece.length - 1) === RETURN;
    if (length <= bytesMax || isReturn) return carry.add(piece);
    carry.clear();
    isSkipping = true;
    refuse(length);
  }

  function refuse(bytes: number): void {
    flush();
    events.onTooLarge(bytes);
  }

  function flush(): void {
    if (lines.length === 0) return;
    const batch = lines;
    lines = [];
    events.onLines(batch);
  }

  return {
    push(chunk) {
      let first = 0;
      if (isSkipping) {
        first = chunk.indexOf(NEWLINE) + 1;
        if (first === 0) return;
        isSkipping = false;
      }
      const text = chunk.toString('latin1', first);
      let start = 0;
      let end = text.indexOf('\n');
      if (end >= 0 && carry.bytes > 0) {
        const bytes = carry.bytes + end;
        // More than the limit and a \r: not even put together.
        if (bytes <= bytesMax + 1) take(carry.takeWith(text.slice(0, end)));
        else {
          carry.clear();
          refuse(text.charCodeAt(end - 1) === RETURN ? bytes - 1 : bytes);
        }
        start = end + 1;
        end = text.indexOf('\n', start);
      }
      while (end >= 0) {
        if (end > start) take(text.slice(start, end));
        start = end + 1;
        end = text.indexOf('\n', start);
      }
      if (start < text.length) hold(start === 0 ? text : text.slice(start));
      flush();
    },
    end() {
      isSkipping = false;
      if (carry.bytes > 0) take(carry.takeWith(''));
      flush();
      return 0;
    },
  };
}

/** Each message behind its length: four bytes, the highest first. Empty frames are ignored. */
export function createLengthSplitter(bytesMax: number, events: FrameEvents): Splitter {
  const carry = createCarry();
  /** Length of the frame being read, or -1 while its header is. */
  let frameBytes = -1;
  let skipBytes = 0;
  let lines: ByteLine[] = [];

  function flush(): void {
    if (lines.length === 0) return;
    const batch = lines;
    lines = [];
    events.onLines(batch);
  }

  function open(header: string): void {
    const bytes =
      header.charCodeAt(0) * 0x1_00_00_00 +
      header.charCodeAt(1) * 0x1_00_00 +
      header.charCodeAt(2) * 0x1_00 +
      header.charCodeAt(3);
    if (bytes <= bytesMax) {
      if (bytes > 0) frameBytes = bytes;
      return;
    }
    skipBytes = bytes;
    flush();
    events.onTooLarge(bytes);
  }

  return {
    push(chunk) {
      let first = 0;
      if (skipBytes > 0) {
        first = Math.min(skipBytes, chunk.length);
        skipBytes -= first;
      }
      const text = chunk.toString('latin1', first);
      let at = 0;
      while (at < text.length) {
        if (skipBytes > 0) {
          const skipped = Math.min(skipBytes, text.length - at);
          skipBytes -= skipped;
          at += skipped;
          continue;
        }
        const missing = (frameBytes < 0 ? HEADER_BYTES : frameBytes) - carry.bytes;
        if (text.length - at < missing) {
          carry.add(at === 0 ? text : text.slice(at));
          break;
        }
        const piece = text.slice(at, at + missing);
        const whole = carry.bytes > 0 ? carry.takeWith(piece) : piece;
        at += missing;
        if (frameBytes < 0) open(whole);
        else {
          frameBytes = -1;
          lines.push(whole as ByteLine);
        }
      }
      flush();
    },
    end() {
      const left = carry.bytes + (frameBytes < 0 ? 0 : HEADER_BYTES);
      carry.clear();
      frameBytes = -1;
      skipBytes = 0;
      return left;
    },
  };
}

/** A message in pieces. Every byte is copied a fixed number of times, however it was cut [FR3]. */
function createCarry() {
  let settled: string[] = [];
  let fresh: string[] = [];
  const carry = {
    bytes: 0,
    add(piece: string): void {
      carry.bytes += piece.length;
      fresh.push(piece);
      if (fresh.length < PIECES_MAX) return;
      settled.push(fresh.join(''));
      fresh = [];
    },
    takeWith(last: string): string {
      const whole = settled.concat(fresh, last).join('');
      carry.clear();
      return whole;
    },
    clear(): void {
      carry.bytes = 0;
      if (settled.length > 0) settled = [];
      if (fresh.length > 0) fresh = [];
    },
  };
  return carry;
}

/** The lines as NDJSON, to be written as Latin-1. They must be valid JSON. */
export function joinLines(lines: readonly ByteLine[]): string {
  const text = [...lines, ''].join('\n');
  const isClean = text.indexOf('\r') < 0 && text.indexOf(SEPARATOR) < 0 && hasOneEach(lines, text);
  return isClean ? text : [...lines.map(oneLine), ''].join('\n');
}

/** The lines behind their lengths, to be written as Latin-1. */
export function frameLines(lines: readonly ByteLine[]): string {
  const pieces: string[] = [];
  for (const line of lines) {
    const bytes = line.length;
    pieces.push(
      String.fromCharCode(bytes >>> 24, (bytes >>> 16) & 255, (bytes >>> 8) & 255, bytes & 255),
    );
    pieces.push(line);
  }
  return pieces.join('');
}

/**
 * The same JSON in what every reader takes for one line [FR5]. A line break between two tokens is
 * legal, so a reader of lines could see a second message in it, past every check of ours; and
 * some readers, Node's readline among them, also break at \r, U+2028 and U+2029.
 */
export function oneLine(line: ByteLine): ByteLine {
  if (line.indexOf('\n') < 0 && line.indexOf('\r') < 0 && line.indexOf(SEPARATOR) < 0) return line;
  // In valid JSON \n and \r stand between tokens, and the two separators inside of strings.
  return line.replace(BREAK, (found) => {
    if (found.length === 1) return ' ';
    return found.endsWith('\xa8') ? '\\u2028' : '\\u2029';
  }) as ByteLine;
}

/** The same text without the chunk it was cut from, which it would keep in memory [FR6]. */
export function detached<T extends string>(text: T): T {
  if (text.length < WINDOW_CHARS_MIN) return text;
  // To cut something off a text that was put together, the engine first copies it into one piece: that
  // is cheaper than the way over a buffer, and this is done to most messages.
  return ` ${text}`.slice(1) as T;
}

function hasOneEach(lines: readonly ByteLine[], text: string): boolean {
  let at = 0;
  for (const line of lines) {
    const end = at + line.length;
    if (text.indexOf('\n', at) !== end) return false;
    at = end + 1;
  }
  return true;
}
