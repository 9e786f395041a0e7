/**
 * One WebSocket peer, for every door that speaks WebSocket: texts in, texts and ready-made frames out.
 * Whatever becomes ready in one turn leaves in one write. Both directions are bounded [F3]: a peer
 * that does not read is cut off with 4008 and holds up nobody; one that asks faster than it is served
 * is read more slowly. A peer that answers no ping is gone after two silent rounds [W7].
 */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { drained } from './drained.ts';
import { encodeFrames } from './frames.ts';

/** What a farewell may take; who does not read does not read that either. */
export const FAREWELL_MS = 1_000;

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
  /** Bytes that may wait for a peer that does not read. */
  readonly outputBytesMax: number;
  /** How much it may have under way. */
  readonly underWayMax: number;
  onText(text: string, isBinary: boolean): void;
  /** Once: nothing more is said or read. */
  onClose(): void;
  onSlowReader?(): void;
}

export function createPeer(ws: WebSocket, stream: Duplex, options: PeerOptions): Peer {
  const { outputBytesMax, underWayMax } = options;
  let texts: string[] = [];
  let parts: Buffer[] = [];
  let isFlushScheduled = false;
  let underWay = 0;
  let isPaused = false;
  let silentPings = 0;
  let isOpen = true;

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
    // One write may be large by itself; slow is who has not taken the one before it.
    const isBehind = stream.writableNeedDrain;
    stream.write(parts.length === 1 ? only : Buffer.concat(parts));
    parts = [];
    if (isBehind && stream.writableLength > outputBytesMax) close(4008, 'slow_reader');
  }

  function close(code: number, reason: string): void {
    if (!isOpen) return;
    if (reason === 'slow_reader') options.onSlowReader?.();
    flush();
    leave();
    ws.close(code, reason);
    terminateSoon();
  }

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    options.onClose();
  }

  function terminateSoon(): void {
    setTimeout(() => ws.terminate(), FAREWELL_MS).unref();
  }

  ws.on('message', (raw: RawData, isBinary: boolean) => {
    if (isOpen) options.onText(raw.toString(), isBinary);
  });
  ws.on('pong', () => {
    silentPings = 0;
  });
  // A frame that breaks the protocol has been answered with its close code; it gets the time to arrive.
  ws.on('error', () => {
    leave();
    terminateSoon();
  });
  ws.on('close', leave);

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
      scheduleFlush();
    },
    drained() {
      // What was handed over must be written before the socket can tell whether it was taken.
      flush();
      return drained(stream);
    },
    begin() {
      if (++underWay <= underWayMax || isPaused) return;
      isPaused = true;
      ws.pause();
    },
    done() {
      underWay--;
      if (!isPaused || underWay > underWayMax / 2) return;
      isPaused = false;
      ws.resume();
    },
    close,
    ping() {
      if (silentPings++ >= 2) ws.terminate();
      else if (isOpen) ws.ping();
    },
  };
}
