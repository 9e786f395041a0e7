/**
 * One socket of the door: frames in, one after the other; frames out, as fast as the peer
 * reads. Both queues are bounded. A peer that stops reading is cut off with 4008 and holds
 * up nobody [SY2]; one that sends faster than it is served is read more slowly.
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { encodeFrames } from '../frames.ts';

/** Bytes that may wait for a peer that does not read. */
const OUTPUT_BYTES_MAX: number = 8 * 1024 * 1024;
/** Frames read and not yet looked at; past it, reading pauses. */
const INPUT_FRAMES_MAX = 64;
const FAREWELL_MS = 1_000;

export interface Socket {
  readonly isOpen: boolean;
  send(text: string): void;
  /** Bytes that are a frame already: made once for all sockets. */
  sendFrame(frame: Buffer): void;
  close(code: number, reason: string): void;
  ping(): void;
}

export interface SocketEvents {
  /** The next frame is given only when this has settled. */
  onFrame(text: string): Promise<void>;
  onClose(): void;
}

export function createSocket(
  ws: WebSocket,
  stream: Duplex,
  events: SocketEvents,
  outputBytesMax: number = OUTPUT_BYTES_MAX,
): Socket {
  const waiting: string[] = [];
  let parts: Buffer[] = [];
  let isFlushScheduled = false;
  let isWorking = false;
  let isPaused = false;
  let isOpen = true;
  let silentPings = 0;

  function sendFrame(frame: Buffer): void {
    if (!isOpen) return;
    parts.push(frame);
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    queueMicrotask(flush);
  }

  function flush(): void {
    isFlushScheduled = false;
    const [only] = parts;
    if (only === undefined || stream.destroyed) return;
    // One write may be large by itself; slow is who has not taken the one before it.
    const isBehind = stream.writableNeedDrain;
    stream.write(parts.length === 1 ? only : Buffer.concat(parts));
    parts = [];
    if (isBehind && stream.writableLength > outputBytesMax) close(4008, 'slow_reader');
  }

  function close(code: number, reason: string): void {
    if (!isOpen) return;
    flush();
    leave();
    ws.close(code, reason);
    // Whoever does not read does not read the farewell either.
    setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
  }

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting.length = 0;
    events.onClose();
  }

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (let text = waiting.shift(); text !== undefined && isOpen; text = waiting.shift()) {
      await events.onFrame(text);
      if (isPaused && waiting.length <= INPUT_FRAMES_MAX / 2) {
        isPaused = false;
        ws.resume();
      }
    }
    isWorking = false;
  }

  ws.on('message', (raw: RawData) => {
    if (!isOpen) return;
    waiting.push(raw.toString());
    if (waiting.length >= INPUT_FRAMES_MAX && !isPaused) {
      isPaused = true;
      ws.pause();
    }
    void work();
  });
  ws.on('pong', () => {
    silentPings = 0;
  });
  // A frame that breaks the protocol has been answered with its close code; it gets the time to arrive.
  ws.on('error', () => {
    leave();
    setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
  });
  ws.on('close', leave);

  return {
    get isOpen() {
      return isOpen;
    },
    send: (text) => sendFrame(encodeFrames([text])),
    sendFrame,
    close,
    ping() {
      if (silentPings++ >= 2) ws.terminate();
      else if (isOpen) ws.ping();
    },
  };
}
