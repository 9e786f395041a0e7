/**
 * The first question to a bus: is it there, and does it let us in? One `stdio_bus/hello` before
 * anything else, with the token when there is one. Other lines that come meanwhile are kept.
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { parseObject } from '../process/json-object.ts';
import { errorOfWire } from './errors.ts';

const PROBE_ID = 'synod-sdk-hello';

export interface Probe {
  readonly line: ByteLine;
  /** Ends when the bus has answered; throws its refusal. */
  readonly answered: Promise<void>;
  /** The bus has not answered yet. */
  readonly isPending: boolean;
  /** Takes the answer out of these lines; gives back the others. */
  take(lines: readonly ByteLine[]): readonly ByteLine[];
  fail(error: Error): void;
}

export function createProbe(token: string | undefined): Probe {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isPending = true;
  const over = (): void => {
    isPending = false;
  };
  promise.then(over, over);
  const params = token === undefined ? {} : { token };
  return {
    line: messageOf({ jsonrpc: '2.0', id: PROBE_ID, method: 'stdio_bus/hello', params }),
    answered: promise,
    get isPending() {
      return isPending;
    },
    take: (lines) =>
      lines.filter((line) => {
        const message = parseObject(line);
        // A bus that is full, or stopping, answers without an id.
        const isRefusal = message?.id === null && 'error' in message;
        if (message?.id !== PROBE_ID && !isRefusal) return true;
        if ('error' in message) reject(errorOfWire(message.error));
        else resolve();
        return false;
      }),
    fail: reject,
  };
}

/** Ends with the promise, or throws when it takes too long. */
export async function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
