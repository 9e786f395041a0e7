/**
 * What a turn said, line by line: on disk up to 16 MiB in a file that its owner alone can read, in
 * memory no more than the last lines, and handed on in bundles to those who watch [RU11]. A
 * secret that is hidden here is in none of the three.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { readJson } from '../../core/law/json.ts';
import type { TurnLine } from '../desk/turn-window.ts';
import type { Transcript } from './runner.ts';

export const TRANSCRIPT_BYTES_MAX: number = 16 * 1024 * 1024;
/** What is shown of a transcript, at the most. */
const TAIL_BYTES_MAX = 64 * 1024;
const TAIL_LINES_MAX = 200;
const SHOWN_LINE_CHARS_MAX = 4_000;
const FLUSH_MS = 50;
const FLUSH_BYTES = 64 * 1024;
/** Shorter ones would take ordinary words out of the text. */
const SECRET_CHARS_MIN = 6;

export interface OpenTranscript extends Transcript {
  readonly path: string;
  /** The last lines. */
  tail(): readonly TurnLine[];
  /** Leaves the secrets out of any other text of the turn. */
  clean(text: string): string;
  close(): void;
}

export interface TranscriptOptions {
  readonly path: string;
  readonly now: () => number;
  /** Lines that are new, cut to what can be shown; never an empty list. */
  onLines(lines: readonly TurnLine[]): void;
  /** The turn gives signs of life. */
  onSign(): void;
  readonly bytesMax?: number;
}

export function openTranscript(options: TranscriptOptions): OpenTranscript {
  const { path, now } = options;
  const bytesMax = options.bytesMax ?? TRANSCRIPT_BYTES_MAX;
  const file = openSync(path, 'a', 0o600);
  const secrets: string[] = [];
  let written = fstatSync(file).size;
  let isFull = false;
  let isOpen = true;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let fresh: TurnLine[] = [];
  let freshChars = 0;
  const last: TurnLine[] = [];
  let lastChars = 0;
  let timer: NodeJS.Timeout | null = null;

  function clean(text: string): string {
    let cleaned = text;
    for (const secret of secrets) cleaned = cleaned.replaceAll(secret, '[secret]');
    return cleaned;
  }

  function store(line: TurnLine): void {
    if (isFull) return;
    const entry = `${JSON.stringify(line)}\n`;
    const bytes = Buffer.byteLength(entry);
    if (written + waitingBytes + bytes > bytesMax) {
      isFull = true;
      waiting.push(`${JSON.stringify({ at: line.at, from: 'note', text: FULL })}\n`);
      return;
    }
    waiting.push(entry);
    waitingBytes += bytes;
  }

  /** Kept for whoever asks, and for whoever watches. */
  function show(line: TurnLine): void {
    last.push(line);
    lastChars += line.text.length;
    while (last.length > TAIL_LINES_MAX || (lastChars > TAIL_BYTES_MAX && last.length > 1)) {
      lastChars -= last.shift()?.text.length ?? 0;
    }
    fresh.push(line);
    freshChars += line.text.length;
    while (fresh.length > TAIL_LINES_MAX || (freshChars > TAIL_BYTES_MAX && fresh.length > 1)) {
      freshChars -= fresh.shift()?.text.length ?? 0;
    }
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (waiting.length > 0) {
      const text = waiting.join('');
      waiting = [];
      waitingBytes = 0;
      try {
        written += writeSync(file, text);
      } catch {
        // A full disk costs the transcript, not the turn.
        isFull = true;
      }
    }
    if (fresh.length === 0) return;
    const lines = fresh;
    fresh = [];
    freshChars = 0;
    options.onLines(lines);
  }

  return {
    path,
    append(text, from = 'out') {
      if (!isOpen) return;
      options.onSign();
      const line = { at: now(), from, text: clean(text) };
      store(line);
      show(
        line.text.length > SHOWN_LINE_CHARS_MAX
          ? { ...line, text: `${line.text.slice(0, SHOWN_LINE_CHARS_MAX)}…` }
          : line,
      );
      if (waitingBytes >= FLUSH_BYTES) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    hide(secret) {
      if (secret.length >= SECRET_CHARS_MIN) secrets.push(secret);
    },
    tail: () => [...last],
    clean,
    close() {
      if (!isOpen) return;
      flush();
      isOpen = false;
      closeSync(file);
    },
  };
}

const FULL = '(the transcript is full; what follows is not kept)';

/** The last lines of a transcript on disk; none when it is not there. */
export function readTail(path: string): TurnLine[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - TAIL_BYTES_MAX);
    const buffer = Buffer.alloc(size - from);
    const bytes = readSync(file, buffer, 0, buffer.length, from);
    const lines = buffer
      .toString('utf8', 0, bytes)
      .split('\n')
      .slice(from === 0 ? 0 : 1);
    return lines.flatMap(parseLine).slice(-TAIL_LINES_MAX);
  } finally {
    closeSync(file);
  }
}

function parseLine(line: string): TurnLine[] {
  try {
    const { at, from, text } = readJson(line) as TurnLine;
    return [{ at, from, text: String(text).slice(0, SHOWN_LINE_CHARS_MAX) }];
  } catch {
    // Cut off, or being written.
    return [];
  }
}
