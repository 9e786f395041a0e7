/**
 * Questions and their answers over a line that may break. What was asked while the
 * line is down waits for it; what was under way when it broke is asked again if
 * that changes nothing [K8], and fails with `connection.lost` if it might [K9].
 * Every question ends by its deadline, and only so many may be open at once.
 */
import { isFields, waitMsOf } from '../wire/fields.ts';
import type { Connection } from './connection.ts';
import { refusalOf, SynodError } from './error.ts';
import { adviceFor, type CallId, isRepeatable } from './operations.ts';

/** Questions open at once. */
export const PENDING_MAX = 10_000;
/** The hub hangs up on a longer frame, so it is refused before it is sent. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Instead of the client's own `requestTimeoutMs`. */
  readonly timeoutMs?: number;
  /** The trace that the call belongs to, as W3C Trace Context writes it. */
  readonly traceparent?: string | null;
}

export interface Requests {
  call(
    id: CallId,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown>;
  up(line: Connection): void;
  frame(frame: unknown): void;
  down(error: SynodError): void;
  /** Ends every question with this error. */
  end(error: SynodError): void;
}

interface Pending {
  readonly id: CallId;
  readonly text: string;
  readonly isRepeatable: boolean;
  isSent: boolean;
  settle(error: unknown, result?: unknown): void;
}

export function createRequests(place: string, timeoutMs: number): Requests {
  const pending = new Map<number, Pending>();
  let line: Connection | null = null;
  let over: SynodError | null = null;
  let lastNumber = 0;

  function call(
    id: CallId,
    input: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (over !== null) throw over;
      if (pending.size >= PENDING_MAX) {
        throw new SynodError(
          'limit.reached',
          `${PENDING_MAX} requests wait for the hub already; wait for some to be answered`,
          { detail: { limit: 'PENDING_MAX' } },
        );
      }
      options.signal?.throwIfAborted();
      const number = ++lastNumber;
      const allowedMs = (options.timeoutMs ?? timeoutMs) + waitMsOf(input);
      const onAbort = (): void => one.settle(options.signal?.reason);
      const one: Pending = {
        id,
        text: frameText(number, id, input, options.traceparent),
        isRepeatable: isRepeatable(id, input),
        isSent: false,
        settle(error, result) {
          clearTimeout(timer);
          options.signal?.removeEventListener('abort', onAbort);
          pending.delete(number);
          if (error === null) resolve(result);
          else reject(error);
        },
      };
      const timer = setTimeout(() => one.settle(timedOut(one, allowedMs, place)), allowedMs);
      options.signal?.addEventListener('abort', onAbort);
      pending.set(number, one);
      one.isSent = line?.send(one.text) ?? false;
    });
  }

  return {
    call,
    up(opened) {
      line = opened;
      // In the order they were asked: a map remembers it.
      for (const one of pending.values()) one.isSent = opened.send(one.text);
    },
    frame(frame) {
      if (!isFields(frame) || typeof frame.id !== 'number') return;
      const one = pending.get(frame.id);
      if (one === undefined) return;
      if (isFields(frame.error)) one.settle(refusalOf(frame.error));
      else one.settle(null, frame.result);
    },
    down(error) {
      line = null;
      for (const one of [...pending.values()]) {
        if (one.isSent && !one.isRepeatable) one.settle(lost(one, error));
        else one.isSent = false;
      }
    },
    end(error) {
      over = error;
      line = null;
      for (const one of [...pending.values()]) one.settle(error);
    },
  };
}

function frameText(
  number: number,
  method: CallId,
  params: unknown,
  traceparent: string | null | undefined,
): string {
  const meta = traceparent == null ? {} : { _meta: { traceparent } };
  let text: string;
  try {
    text = JSON.stringify({ jsonrpc: '2.0', id: number, method, params, ...meta });
  } catch (cause) {
    throw notJson(method, cause);
  }
  // Three bytes is the most one UTF-16 unit takes, so short frames need no measuring.
  const isLong = text.length * 3 > FRAME_BYTES_MAX;
  if (isLong && new TextEncoder().encode(text).length > FRAME_BYTES_MAX) {
    throw new SynodError(
      'body.too-large',
      `what ${method} was given is over ${FRAME_BYTES_MAX} bytes; send less, or a reference to it`,
    );
  }
  return text;
}

function notJson(method: CallId, cause: unknown): SynodError {
  const message = `what ${method} was given cannot be written as JSON; give plain objects, no cycles`;
  return new SynodError('input.not-json', message, { cause });
}

function lost(one: Pending, error: SynodError): SynodError {
  return new SynodError(
    'connection.lost',
    `${error.message} while ${one.id} was under way; its outcome is unknown: ${adviceFor(one.id)}`,
    { cause: error, detail: { operation: one.id } },
  );
}

function timedOut(one: Pending, allowedMs: number, place: string): SynodError {
  const what = !one.isSent
    ? 'it was not sent; check that the hub runs'
    : one.isRepeatable
      ? 'it is safe to ask again'
      : `its outcome is unknown: ${adviceFor(one.id)}`;
  return new SynodError(
    'request.timeout',
    `${one.id} had no answer from ${place} within ${allowedMs} ms; ${what}`,
    { detail: { operation: one.id, was_sent: one.isSent } },
  );
}
