/**
 * What comes from a worker: whole lines, in order, and none while reading is off [WO2].
 *
 * While it is off the pipe is not read, so the process blocks and our memory does not grow; at most
 * the chunks Node had read already are held. When a process exits, Node sets every paused pipe
 * flowing again by itself; what then arrives is held too, and the pipe paused again.
 */
import type { Readable } from 'node:stream';
import type { ByteLine } from './byte-line.ts';
import { createLineSplitter } from './frames.ts';

export interface InboundEvents {
  onBytes(): void;
  onLines(lines: readonly ByteLine[]): void;
  onTooLarge(bytes: number): void;
  /** Everything was read and given out. Once. */
  onEnd(): void;
}

export interface Inbound {
  readonly isReading: boolean;
  readonly isDone: boolean;
  setReading(isOn: boolean): void;
  /** Stops waiting for the end: another process may hold the pipe for ever. */
  abandon(): void;
}

export function createInbound(
  pipe: Readable,
  bytesMax: number,
  isReadingNow: boolean,
  events: InboundEvents,
): Inbound {
  let isReading = isReadingNow;
  let held: Buffer[] = [];
  let heldLines: ByteLine[] = [];
  let hasEnded = false;
  let isDone = false;

  const splitter = createLineSplitter(bytesMax, {
    onLines(lines) {
      // The listener may turn reading off between two batches of one chunk.
      if (isReading) events.onLines(lines);
      else heldLines = heldLines.concat(lines);
    },
    onTooLarge: (bytes) => events.onTooLarge(bytes),
  });

  function onChunk(chunk: Buffer): void {
    if (isReading && held.length === 0 && heldLines.length === 0) {
      events.onBytes();
      splitter.push(chunk);
      return;
    }
    held.push(chunk);
    pipe.pause();
  }

  /** Gives out what was held, as long as it is wanted. */
  function pump(): void {
    while (isReading && (heldLines.length > 0 || held.length > 0)) {
      if (heldLines.length > 0) {
        const lines = heldLines;
        heldLines = [];
        events.onLines(lines);
      } else {
        const [chunk, ...rest] = held;
        held = rest;
        events.onBytes();
        splitter.push(chunk as Buffer);
      }
    }
    if (!isReading) return;
    pipe.resume();
    finish();
  }

  function finish(): void {
    if (isDone || !hasEnded || !isReading || held.length > 0 || heldLines.length > 0) return;
    splitter.end();
    // The last line itself may have turned reading off, but it was given out.
    isDone = true;
    events.onEnd();
  }

  function ended(): void {
    hasEnded = true;
    finish();
  }

  if (!isReading) pipe.pause();
  pipe.on('data', onChunk);
  pipe.once('end', ended);
  // After an error there is no 'end'.
  pipe.on('error', () => {});
  pipe.once('close', ended);

  return {
    get isReading() {
      return isReading;
    },
    get isDone() {
      return isDone;
    },
    setReading(isOn) {
      if (isOn === isReading) return;
      isReading = isOn;
      if (!isOn) pipe.pause();
      // Later, because the caller does not expect lines before we return.
      else process.nextTick(pump);
    },
    abandon() {
      if (isDone) return;
      isDone = true;
      if (isReading && held.length === 0) splitter.end();
      held = [];
      heldLines = [];
      pipe.destroy();
    },
  };
}
