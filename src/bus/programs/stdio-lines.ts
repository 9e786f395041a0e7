/**
 * The worker contract on two streams: one JSON object a line in, one a line out, nothing else. It
 * cuts lines wherever the chunks fall, tells stderr about a line it cannot read and goes on, writes
 * once per tick, and reads no further while its output is not read. The end of the input and
 * SIGTERM mean the same: take nothing more, finish what is in hand, and be done.
 */
import type { Readable, Writable } from 'node:stream';
import { textOf } from '../process/byte-line.ts';
import { createLineSplitter, type Splitter } from '../process/frames.ts';
import { isObject, type JsonObject, parseJson } from '../process/json-object.ts';

export interface LineIo {
  readonly input: Readable;
  readonly output: Writable;
  /** For a person: stderr. */
  note(text: string): void;
  /** Calls back when the process is asked to end; answers how to stop listening. */
  onStop(call: () => void): () => void;
}

export interface LineOutput {
  send(message: object): void;
  /** Resolves once the other side has taken enough for more to be made. */
  drained(): Promise<void>;
}

export interface LineProgram {
  take(message: JsonObject): void;
  /** There will be no more input; settles when everything asked has been answered. */
  finish?(): Promise<void>;
}

/** What is sent waits for the end of the tick, up to this. */
const WAITING_CHARS_MAX = 64 * 1024;
/** A longer line is skipped: no honest message comes near. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

export function processIo(name: string): LineIo {
  return {
    input: process.stdin,
    output: process.stdout,
    note: (text) => void process.stderr.write(`synod worker ${name}: ${text}\n`),
    onStop(call) {
      const signals = ['SIGTERM', 'SIGINT'] as const;
      for (const signal of signals) process.once(signal, call);
      return () => {
        for (const signal of signals) process.removeListener(signal, call);
      };
    },
  };
}

/** Runs the program until its input has ended and its last answer is written. */
export async function serveLines(
  create: (output: LineOutput) => LineProgram,
  io: LineIo,
): Promise<void> {
  const { input } = io;
  const writer = createWriter(io, () => input.resume());
  const program = create(writer.output);
  const ended = Promise.withResolvers<void>();
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    input.pause();
    ended.resolve();
  };
  const lines = createMessageReader(io.note, (message) => program.take(message));
  input.on('data', (chunk: Buffer) => {
    if (isEnding) return;
    lines.push(chunk);
    if (writer.isFull()) input.pause();
  });
  input.once('end', () => {
    if (!isEnding) lines.end();
    end();
  });
  input.once('close', end);
  input.once('error', end);
  const forget = io.onStop(end);
  await ended.promise;
  forget();
  input.destroy();
  await program.finish?.();
  await writer.flushed();
}

interface Writer {
  readonly output: LineOutput;
  isFull(): boolean;
  flushed(): Promise<void>;
}

function createWriter({ output }: LineIo, onDrain: () => void): Writer {
  let waiting = '';
  let isBroken = false;
  /** Set while the other side does not read. */
  let full: PromiseWithResolvers<void> | null = null;
  const empty = (): void => {
    full?.resolve();
    full = null;
    onDrain();
  };
  // The reader has gone, so nothing we write can matter. The end of the input follows.
  const breakOff = (): void => {
    isBroken = true;
    empty();
  };
  output.on('drain', empty).once('close', breakOff).on('error', breakOff);
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '' && !isBroken && !output.write(text)) full ??= Promise.withResolvers<void>();
  };
  return {
    output: {
      send(message) {
        if (waiting === '') process.nextTick(flush);
        waiting += `${lineText(message)}\n`;
      },
      async drained() {
        if (waiting.length > WAITING_CHARS_MAX) flush();
        await full?.promise;
      },
    },
    isFull: () => full !== null,
    async flushed() {
      flush();
      if (!isBroken) await new Promise<void>((resolve) => output.write('', () => resolve()));
    },
  };
}

const SEPARATORS = /[\u2028\u2029]/;

/** One line also for readers, such as Node's readline, that see a line end in U+2028 and U+2029. */
function lineText(message: object): string {
  const text = JSON.stringify(message);
  if (!SEPARATORS.test(text)) return text;
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Cuts bytes into lines and parses them; the chunks may fall anywhere. */
export function createMessageReader(
  note: (text: string) => void,
  take: (message: JsonObject) => void,
): Splitter {
  return createLineSplitter(LINE_BYTES_MAX, {
    onLines(lines) {
      for (const line of lines) {
        const message = parseJson(textOf(line));
        if (isObject(message)) take(message);
        else {
          // How much, but not what: it may hold a secret.
          const what = message === undefined ? 'JSON' : 'a JSON object';
          note(`a line of ${line.length} bytes is not ${what}; skipped`);
        }
      }
    },
    onTooLarge: () => note(`a line is longer than ${LINE_BYTES_MAX} bytes; skipped`),
  });
}
