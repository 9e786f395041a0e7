/**
 * One WebSocket peer, for every door that speaks WebSocket: texts in, texts and ready-made frames out.
 * Whatever becomes ready in one turn leaves in one write. Both directions are bounded [F3]: a peer
 * that does not read is cut off and holds up nobody, and finds 4008 behind what it was sent when it reads
 * again soon; one that asks faster than it is served is read more slowly. A peer that answers no ping is gone after two silent rounds [W7].
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { FanOut, Recipient } from './fan-out.ts';
import { encodeFrames } from './frames.ts';
import { intake } from './intake.ts';
import { createOutbox } from './outbox.ts';

/** What a farewell may take. */
export const FAREWELL_MS = 1_000;
/** For one that stopped reading: should it go on by then, it learns why it was cut off. */
export const SLOW_FAREWELL_MS = 60_000;

export interface Peer {
  readonly isOpen: boolean;
  send(text: string): void;
  /** Bytes that are frames already: made once for all peers. */
  sendFrames(frames: Buffer): void;
  /** Settles when the peer has taken what was handed over. */
  drained(): Promise<void>;
  /** Something it asked for is under way; past the bound, reading pauses until half is done. */
  begin(): void;
  done(): void;
  close(code: number, reason: string): void;
  ping(): void;
}

export interface PeerOptions {
  /** Where it stands in line with others for what is pushed to many. */
  readonly fanOut: FanOut;
  /** Bytes that may wait for a peer that does not read. */
  readonly outputBytesMax: number;
  /** How much it may have under way. */
  readonly underWayMax: number;
  onText(text: string, isBinary: boolean): void;
  /** Once: nothing more is said or read. Ours is a close that was asked for on this side. */
  onClose(isOurs: boolean): void;
  /** It is cut off because it did not take so many bytes. */
  onSlowReader?(bytes: number): void;
  readonly slowFarewellMs?: number | undefined;
}

export function createPeer(ws: WebSocket, stream: Duplex, options: PeerOptions): Peer {
  const { outputBytesMax, underWayMax, fanOut } = options;
  const outbox = createOutbox(stream, outputBytesMax);
  let texts: string[] = [];
  let parts: Buffer[] = [];
  let isFlushScheduled = false;
  let underWay = 0;
  let isPaused = false;
  let pauses = 0;
  let hasMessage = false;
  let silentPings = 0;
  let isOpen = true;

  const recipient: Recipient = { flush, isTouched: false, isQueued: false };

  function scheduleFlush(): void {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    // All answers and pushes of a batch are released in one turn; the flush follows them.
    queueMicrotask(flush);
  }

  function encodeTexts(): void {
    if (texts.length === 0) return;
    parts.push(encodeFrames(texts));
    texts = [];
  }

  function flush(): void {
    isFlushScheduled = false;
    encodeTexts();
    const [only] = parts;
    if (only === undefined || !isOpen) return;
    const some = parts;
    parts = [];
    if (!outbox.writeAll(some, fanOut.join)) close(4008, 'slow_reader');
  }

  function close(code: number, reason: string): void {
    if (!isOpen) return;
    const isSlow = reason === 'slow_reader';
    flush();
    // It may have been found slow by that.
    if (!isOpen) return;
    if (isSlow) options.onSlowReader?.(outbox.waiting);
    leave(true);
    if (isSlow) outbox.cut();
    // The farewell comes behind what was written, and never between what was not.
    if (outbox.isEmpty && !isSlow) ws.close(code, reason);
    else void outbox.drained().then(() => ws.close(code, reason));
    terminateAfter(isSlow ? (options.slowFarewellMs ?? SLOW_FAREWELL_MS) : FAREWELL_MS);
  }

  function leave(isOurs: boolean): void {
    if (!isOpen) return;
    isOpen = false;
    options.onClose(isOurs);
  }

  function terminateAfter(ms: number): void {
    const timer = setTimeout(() => ws.terminate(), ms);
    timer.unref();
    ws.once('close', () => clearTimeout(timer));
  }

  function pause(): void {
    if (++pauses === 1) ws.pause();
  }
  function resume(): void {
    if (--pauses === 0) ws.resume();
  }

  // Behind the one that finds the frames in it: a piece in which none ends is of a large one.
  const incoming = intake.open({ pause, resume });
  stream.on('data', (piece: Buffer) => {
    if (!hasMessage) incoming.took(piece.length);
    hasMessage = false;
  });

  ws.on('message', (raw: RawData, isBinary: boolean) => {
    hasMessage = true;
    incoming.end();
    if (isOpen) options.onText(raw.toString(), isBinary);
  });
  ws.on('pong', () => {
    silentPings = 0;
  });
  // A frame that breaks the protocol has been answered with its close code; it gets the time to arrive.
  ws.on('error', () => {
    leave(false);
    terminateAfter(FAREWELL_MS);
  });
  ws.on('close', () => {
    incoming.end();
    leave(false);
  });

  return {
    get isOpen() {
      return isOpen;
    },
    send(text) {
      if (!isOpen) return;
      texts.push(text);
      scheduleFlush();
    },
    sendFrames(frames) {
      if (!isOpen) return;
      encodeTexts();
      parts.push(frames);
      if (!isFlushScheduled) fanOut.add(recipient);
    },
    drained() {
      // What was handed over must be written before the socket can tell whether it was taken.
      flush();
      return outbox.drained();
    },
    begin() {
      if (++underWay <= underWayMax || isPaused) return;
      isPaused = true;
      pause();
    },
    done() {
      underWay--;
      if (!isPaused || underWay > underWayMax / 2) return;
      isPaused = false;
      resume();
    },
    close,
    ping() {
      if (silentPings++ >= 2) ws.terminate();
      else if (isOpen) ws.ping();
    },
  };
}
