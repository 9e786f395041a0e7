/**
 * An answer that nobody reads is not kept [SV9]. It lies in memory until its reader takes it: who takes nothing of
 * it for so long is cut off. One that reads slowly has its answer, however long that takes. Streams are bounded
 * by what waits for them instead, and say why they end [F3].
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export const UNREAD_MS = 30_000;

/** Before the answer is written. */
export function boundUnread(response: ServerResponse, unreadMs: number = UNREAD_MS): void {
  response.once('prefinish', () => {
    const { socket } = response;
    // Most answers are with the kernel by now.
    if (socket === null || socket.writableLength === 0) return;
    let before = untaken(socket);
    // A timeout of the socket would begin anew with every byte that such a reader sends.
    const timer = setInterval(() => {
      const now = untaken(socket);
      if (now === before) socket.destroy();
      before = now;
    }, unreadMs);
    timer.unref();
    const stop = (): void => clearInterval(timer);
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
