/**
 * Is a client still there that ended its sending side? One that waits for its answers and one that
 * died look the same, and neither says anything more: only a write tells them apart [BD22]. To a
 * Unix socket an empty write will do, which nobody sees. Over TCP the other side must be asked, with a
 * notification that means nothing; if it is gone, the write after that one fails.
 */
import type { Writable } from 'node:stream';
import type { ByteLine } from '../process/byte-line.ts';

export const PROBE_MS = 1_000;
const PROBE_MS_MAX = 30_000;
const PING = '{"jsonrpc":"2.0","method":"stdio_bus/ping"}' as ByteLine;

export interface Probing {
  readonly output: Writable;
  /** How the notification is written; null where an empty write will do. */
  readonly encode: ((lines: readonly ByteLine[]) => string) | null;
  /** Something is being written already, and will fail by itself. */
  readonly isWriting: () => boolean;
  readonly firstMs: number;
}

/** Asks now and then, less and less often; a failed write is the stream's error. Answers how to stop. */
export function startProbing({ output, encode, isWriting, firstMs }: Probing): () => void {
  let waitMs = firstMs;
  let isAsking = encode !== null;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(() => {
      if (!isWriting()) {
        output.write(isAsking && encode ? encode([PING]) : '', 'latin1', () => {});
        isAsking = encode !== null && !isAsking;
      }
      waitMs = Math.min(waitMs * 2, PROBE_MS_MAX);
      next();
    }, waitMs);
    timer.unref();
  };
  next();
  return () => clearTimeout(timer);
}
