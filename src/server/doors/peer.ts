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
import { type Incoming, intake } from './intake.ts';
import { Outbox } from './outbox.ts';

/** What a farewell may take. */
export const FAREWELL_MS = 1_000;
/** For one that stopped reading: should it go on by then, it learns why it was cut off. */
export const SLOW_FAREWELL_MS = 60_000;

/** What a client's ping or pong is at the most: no piece so small is of a large frame, or none that holds anybody up. */
const CONTROL_BYTES_MAX = 131;

/** The same for all peers of a door. */
export interface PeerOptions {
  /** Where it stands in line with others for what is pushed to many. */
  readonly fanOut: FanOut;
  /** Bytes that may wait for a peer that does not read. */
  readonly outputBytesMax: number;
  /** How much it may have under way. */
  readonly underWayMax: number;
  readonly slowFarewellMs?: number | undefined;
}

/** What a peer says, and what becomes of it. */
export interface PeerListener {
  onText(text: string, isBinary: boolean): void;
  /** Once: nothing more is said or read. Ours is a close that was asked for on this side. */
  onClose(isOurs: boolean): void;
  /** It is cut off because it did not take so many bytes. */
  onSlowReader(bytes: number): void;
}

/** A class, because there is one for every connection: of closures each would have its own. */
export class Peer implements Recipient {
  isTouched = false;
  isQueued = false;
  readonly #ws: WebSocket;
  readonly #options: PeerOptions;
  readonly #listener: PeerListener;
  readonly #outbox: Outbox;
  #texts: string[] = [];
  #parts: Buffer[] = [];
  #isFlushScheduled = false;
  #underWay = 0;
  #isPaused = false;
  #pauses = 0;
  #hasMessage = false;
  /** Null while no frame of it came in several pieces. */
  #incoming: Incoming | null = null;
  #silentPings = 0;
  #isOpen = true;

  constructor(ws: WebSocket, stream: Duplex, options: PeerOptions, listener: PeerListener) {
    this.#ws = ws;
    this.#options = options;
    this.#listener = listener;
    this.#outbox = new Outbox(stream, options.outputBytesMax);
    // Behind the one that finds the frames in it: a piece in which none ends is of a large one.
    stream.on('data', (piece: Buffer) => {
      if (!this.#hasMessage) this.#took(piece.length);
      this.#hasMessage = false;
    });
    ws.on('message', (raw: RawData, isBinary: boolean) => {
      this.#hasMessage = true;
      this.#incoming?.end();
      if (this.#isOpen) listener.onText(raw.toString(), isBinary);
    });
    ws.on('pong', () => {
      this.#silentPings = 0;
    });
    // A frame that breaks the protocol has been answered with its close code; it gets the time to arrive.
    ws.on('error', () => {
      this.#leave(false);
      this.#terminateAfter(FAREWELL_MS);
    });
    ws.on('close', () => {
      this.#incoming?.end();
      this.#leave(false);
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    if (!this.#isOpen) return;
    this.#texts.push(text);
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    // All answers and pushes of a batch are released in one turn; the flush follows them.
    queueMicrotask(() => this.flush());
  }

  /** Bytes that are frames already: made once for all peers. */
  sendFrames(frames: Buffer): void {
    if (!this.#isOpen) return;
    this.#encodeTexts();
    this.#parts.push(frames);
    if (!this.#isFlushScheduled) this.#options.fanOut.add(this);
  }

  /** Settles when the peer has taken what was handed over. */
  drained(): Promise<void> {
    // What was handed over must be written before the socket can tell whether it was taken.
    this.flush();
    return this.#outbox.drained();
  }

  /** Something it asked for is under way; past the bound, reading pauses until half is done. */
  begin(): void {
    if (++this.#underWay <= this.#options.underWayMax || this.#isPaused) return;
    this.#isPaused = true;
    this.#pause();
  }

  done(): void {
    this.#underWay--;
    if (!this.#isPaused || this.#underWay > this.#options.underWayMax / 2) return;
    this.#isPaused = false;
    this.#resume();
  }

  flush(): void {
    this.#isFlushScheduled = false;
    this.#encodeTexts();
    if (this.#parts.length === 0 || !this.#isOpen) return;
    const some = this.#parts;
    this.#parts = [];
    if (!this.#outbox.writeAll(some, this.#options.fanOut.join)) this.close(4008, 'slow_reader');
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    const isSlow = reason === 'slow_reader';
    this.flush();
    // It may have been found slow by that.
    if (!this.#isOpen) return;
    const outbox = this.#outbox;
    if (isSlow) this.#listener.onSlowReader(outbox.waiting);
    this.#leave(true);
    if (isSlow) outbox.cut();
    // The farewell comes behind what was written, and never between what was not.
    if (outbox.isEmpty && !isSlow) this.#ws.close(code, reason);
    else void outbox.drained().then(() => this.#ws.close(code, reason));
    const { slowFarewellMs = SLOW_FAREWELL_MS } = this.#options;
    this.#terminateAfter(isSlow ? slowFarewellMs : FAREWELL_MS);
  }

  ping(): void {
    if (this.#silentPings++ >= 2) this.#ws.terminate();
    else if (this.#isOpen) this.#ws.ping();
  }

  #took(bytes: number): void {
    if (bytes <= CONTROL_BYTES_MAX) return;
    this.#incoming ??= intake.open({ pause: () => this.#pause(), resume: () => this.#resume() });
    this.#incoming.took(bytes);
  }

  #pause(): void {
    if (++this.#pauses === 1) this.#ws.pause();
  }

  #resume(): void {
    if (--this.#pauses === 0) this.#ws.resume();
  }

  #encodeTexts(): void {
    if (this.#texts.length === 0) return;
    this.#parts.push(encodeFrames(this.#texts));
    this.#texts = [];
  }

  #leave(isOurs: boolean): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#listener.onClose(isOurs);
  }

  #terminateAfter(ms: number): void {
    const timer = setTimeout(() => this.#ws.terminate(), ms);
    timer.unref();
    this.#ws.once('close', () => clearTimeout(timer));
  }
}
