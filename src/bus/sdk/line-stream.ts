/**
 * Lines over a pair of byte streams: a socket, or the pipes of a process. What is sent within one
 * tick is written at once; what the other side has not taken is counted.
 */
import type { Readable, Writable } from 'node:stream';
import type { ByteLine } from '../process/byte-line.ts';
import { createLineSplitter } from '../process/frames.ts';

/** A longer line from the bus is skipped and told. */
export const LINE_BYTES_MAX = 268_435_456;

export interface LineStreamEvents {
  onLines(lines: readonly ByteLine[]): void;
  onTooLarge(bytes: number): void;
  /** Nothing more comes, or can be sent. Once. */
  onEnd(error: Error | null): void;
}

export interface LineStream {
  readonly queuedBytes: number;
  send(line: ByteLine): boolean;
  /** Sends what is queued, then ends our side. */
  end(): void;
}

export function openLineStream(
  input: Readable,
  output: Writable,
  events: LineStreamEvents,
): LineStream {
  let queued: string[] = [];
  let bytes = 0;
  let isOpen = true;
  let isEnded = false;
  const splitter = createLineSplitter(LINE_BYTES_MAX, events);

  function flush(): void {
    if (queued.length === 0) return;
    const text = `${queued.join('\n')}\n`;
    queued = [];
    bytes = 0;
    if (isOpen && !output.destroyed) output.write(text, 'latin1');
  }

  function over(error: Error | null): void {
    isOpen = false;
    if (isEnded) return;
    isEnded = true;
    splitter.end();
    events.onEnd(error);
  }

  let failure: Error | null = null;
  input.on('data', (chunk: Buffer) => splitter.push(chunk));
  input.on('error', (error) => {
    failure = error;
  });
  input.on('close', () => over(failure));
  input.on('end', () => over(null));
  // The reader decides when it is over: what the other side said before it left is still read.
  output.on('error', (error) => {
    failure ??= error;
    isOpen = false;
  });

  return {
    get queuedBytes() {
      return bytes + output.writableLength;
    },
    send(line) {
      if (!isOpen || output.destroyed || output.writableEnded) return false;
      if (queued.length === 0) process.nextTick(flush);
      queued.push(line);
      bytes += line.length + 1;
      return true;
    },
    end() {
      flush();
      isOpen = false;
      output.end();
    },
  };
}
