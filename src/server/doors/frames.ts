/**
 * WebSocket text frames, many in one buffer. Frames from server to client are not
 * masked, so the same bytes serve every connection: messages are encoded once and
 * all frames for a socket leave in one write.
 */

/** How many times texts are encoded one by one when some were not ASCII: they come in runs, and looking in vain is dear. */
const WIDE_TIMES = 16;
let wideTimes = 0;

export function encodeFrames(texts: readonly string[]): Buffer {
  if (texts.length === 1 || !areShort(texts)) return encodeEach(texts);
  if (wideTimes > 0) wideTimes--;
  else {
    const plain = encodePlain(texts);
    if (plain !== null) return plain;
    wideTimes = WIDE_TIMES;
  }
  return encodeEach(texts);
}

/** Beside what longer ones cost, the calls that are saved are nothing. */
const SHORT_CHARS_MAX = 1024;

function areShort(texts: readonly string[]): boolean {
  for (const { length } of texts) if (length > SHORT_CHARS_MAX) return false;
  return true;
}

/** So many are one text: one of much more than 100 KB would have memory of its own. */
const RUN_TEXTS = 64;

/** Many at once, by a copy and two calls; null when they are not ASCII. */
function encodePlain(texts: readonly string[]): Buffer | null {
  const runs: string[] = [];
  let size = 0;
  for (let from = 0; from < texts.length; from += RUN_TEXTS) {
    const run = plainRun(texts, from, Math.min(from + RUN_TEXTS, texts.length));
    if (run === null) return null;
    runs.push(run);
    size += run.length;
  }
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (const run of runs) at += buffer.write(run, at, 'latin1');
  return buffer;
}

/** A character for each byte. */
function plainRun(texts: readonly string[], from: number, end: number): string | null {
  let run = '';
  // Bytes of heads that are no ASCII, and so two bytes each where all is counted as UTF-8.
  let wide = 0;
  for (let i = from; i < end; i++) {
    const text = texts[i] as string;
    const head = HEADS[text.length] as Head;
    run += head.text;
    run += text;
    wide += head.wide;
  }
  return Buffer.byteLength(run) === run.length + wide ? run : null;
}

interface Head {
  /** A character for each byte. */
  readonly text: string;
  readonly wide: number;
}

/** By the length of the text. */
const HEADS: readonly Head[] = Array.from({ length: SHORT_CHARS_MAX + 1 }, (_, length) => {
  const bytes = length < 126 ? [0x81, length] : [0x81, 126, length >> 8, length & 255];
  const wide = bytes.filter((byte) => byte > 0x7f).length;
  return { text: String.fromCharCode(...bytes), wide };
});

function encodeEach(texts: readonly string[]): Buffer {
  let size = 0;
  const lengths = new Array<number>(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const length = Buffer.byteLength(texts[i] as string);
    lengths[i] = length;
    size += length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
  }
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (let i = 0; i < texts.length; i++) {
    const length = lengths[i] as number;
    // FIN and opcode 1: a whole text message.
    buffer[at++] = 0x81;
    if (length < 126) {
      buffer[at++] = length;
    } else if (length < 65_536) {
      buffer[at++] = 126;
      at = buffer.writeUInt16BE(length, at);
    } else {
      buffer[at++] = 127;
      at = buffer.writeUInt32BE(Math.floor(length / 2 ** 32), at);
      at = buffer.writeUInt32BE(length % 2 ** 32, at);
    }
    at += buffer.write(texts[i] as string, at);
  }
  return buffer;
}
