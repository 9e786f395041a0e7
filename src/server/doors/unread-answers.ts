/**
 * An answer that nobody reads is not kept [SV9]. It lies in memory until its reader takes it: who takes nothing of
 * it for so long is cut off. One that reads slowly has its answer, however long that takes. Streams are bounded
 * by what waits for them instead, and say why they end [F3].
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export const UNREAD_MS = 30_000;
/** As long as more than this is not taken, who asked is given no other page. */
export const HELD_BYTES_MIN: number = 1024 * 1024;

const holds = new WeakMap<ServerResponse, () => () => void>();

/** Whose answer it is: `hold` keeps back the next pages of that agent, until what it answers is called. */
export function holdWhileUnread(response: ServerResponse, hold: () => () => void): void {
  holds.set(response, hold);
}

/** Before the answer is written, which leaves in one piece. */
export function boundUnread(response: ServerResponse, unreadMs: number = UNREAD_MS): void {
  response.once('prefinish', () => watch(response, unreadMs));
}

/** The same of one that may leave in parts, each of them when the last was taken. */
export function boundUnreadParts(response: ServerResponse, unreadMs?: number): void {
  boundUnread(response, unreadMs);
  const write = response.write.bind(response) as (...part: unknown[]) => boolean;
  let isWatched = false;
  response.write = (...part: unknown[]): boolean => {
    const isTaken = write(...part);
    if (isTaken || isWatched) return isTaken;
    isWatched = true;
    watch(response, unreadMs, () => {
      isWatched = false;
    });
    return isTaken;
  };
}

/** Until all that was written is taken, or the reader is gone. */
function watch(response: ServerResponse, unreadMs = UNREAD_MS, onEnd?: () => void): void {
  const { socket } = response;
  // Most answers are with the kernel by now.
  if (socket === null || socket.writableLength === 0) return onEnd?.();
  let before = untaken(socket);
  const release = before > HELD_BYTES_MIN ? holds.get(response)?.() : undefined;
  // Of a part the kernel is given something when this turn ends: what is left then is what may be left unread.
  const { writableCorked } = socket;
  if (writableCorked > 0)
    setImmediate(() => {
      before = untaken(socket);
    });
  // A timeout of the socket would begin anew with every byte that such a reader sends.
  const timer = setInterval(() => {
    const now = untaken(socket);
    if (now === before) socket.destroy();
    before = now;
  }, unreadMs);
  timer.unref();
  const events = ['drain', 'finish', 'close'] as const;
  const stop = (): void => {
    clearInterval(timer);
    for (const event of events) response.off(event, stop);
    release?.();
    onEnd?.();
  };
  for (const event of events) response.on(event, stop);
}

/**
 * What is left of the write that is under way is known to the handle alone, which Node asks for its own timeouts too.
 * It has nothing yet of what is held together for this turn. Over TLS its handle has all of it until the last byte has
 * left, and the one below tells.
 */
function untaken(socket: Socket & { readonly _handle?: Handle | null }): number {
  const { writableCorked, writableLength, _handle: handle } = socket;
  if (writableCorked > 0) return writableLength;
  return handle?._parent?.writeQueueSize || (handle?.writeQueueSize ?? writableLength);
}

interface Handle {
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
}
