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

/** Before the answer is written. */
export function boundUnread(response: ServerResponse, unreadMs: number = UNREAD_MS): void {
  response.once('prefinish', () => {
    const { socket } = response;
    // Most answers are with the kernel by now.
    if (socket === null || socket.writableLength === 0) return;
    let before = untaken(socket);
    const release = before > HELD_BYTES_MIN ? holds.get(response)?.() : undefined;
    // A timeout of the socket would begin anew with every byte that such a reader sends.
    const timer = setInterval(() => {
      const now = untaken(socket);
      if (now === before) socket.destroy();
      before = now;
    }, unreadMs);
    timer.unref();
    const stop = (): void => {
      clearInterval(timer);
      release?.();
    };
    response.once('finish', stop);
    response.once('close', stop);
  });
}

/** What is left of the write that is under way is known to the handle alone, which Node asks for its own timeouts too. */
function untaken(
  socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } },
): number {
  return socket._handle?.writeQueueSize ?? socket.writableLength;
}
