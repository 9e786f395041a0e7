/**
 * A live stream: a line of its own on which the hub pushes, and the reader at the
 * other end. Its own, because a reader that falls behind is hung up on by the hub,
 * and that must not take other people's answers with it [K11]. What is told apart
 * between messages and receipts is in `messages.ts` and `receipts.ts`.
 */
import { type Fields, isFields } from '../wire/fields.ts';
import type { Connection, ConnectionEvents } from './connection.ts';
import { isPassing, refusalOf, SynodError } from './error.ts';
import type { Sequence } from './sequence.ts';

/** An async iterator that must be left (`break`), closed or aborted to let go of its connection. */
export interface LiveStream<T> extends AsyncIterableIterator<T, undefined>, AsyncDisposable {
  /** Resolves once the hub has confirmed the stream: what is sent from then on arrives. */
  readonly ready: Promise<void>;
  next(): Promise<IteratorResult<T, undefined>>;
  return(): Promise<IteratorResult<T, undefined>>;
  close(): Promise<void>;
  [Symbol.asyncIterator](): LiveStream<T>;
}

export interface LiveOptions<T> {
  readonly sequence: Sequence<T>;
  readonly signal: AbortSignal | undefined;
  readonly openTimeoutMs: number;
  readonly openConnection: (events: ConnectionEvents) => Connection;
  /** What to ask of `stream.open`, each time anew. */
  request(): Readonly<Record<string, unknown>>;
  /** The hub confirmed; `position` is where it stands. */
  confirmed(position: number): void;
  /** Something pushed: a notification's method and params. */
  pushed(method: string, params: Fields, chars: number): void;
  beforeNext(): void;
  delivered(value: T): void;
  /** The last word, before the stream is gone. */
  leave(): Promise<void>;
  onClosed(): void;
}

export interface Live<T> {
  readonly stream: LiveStream<T>;
  readonly line: Connection;
  fail(error: unknown): void;
}

const OPEN_ID = 'open';

export function openLive<T>(options: LiveOptions<T>): Live<T> {
  const { sequence, signal } = options;
  const ready = Promise.withResolvers<void>();
  // Whoever does not wait for it is told by the iterator instead.
  ready.promise.catch(() => {});
  let wasConfirmed = false;
  let openTimer: ReturnType<typeof setTimeout> | undefined;
  let closing: Promise<void> | null = null;

  const line = options.openConnection({
    up() {
      openTimer = setTimeout(() => line.drop(notOpened()), options.openTimeoutMs);
      const params = options.request();
      line.send(JSON.stringify({ jsonrpc: '2.0', id: OPEN_ID, method: 'stream.open', params }));
    },
    frame(frame, chars) {
      if (!isFields(frame)) return;
      const { id, method, params, result, error } = frame;
      if (typeof method === 'string' && isFields(params)) {
        if (method === 'stream.end') line.drop(ended(String(params.reason)));
        else options.pushed(method, params, chars);
      } else if (id === OPEN_ID) {
        clearTimeout(openTimer);
        if (isFields(error)) refused(refusalOf(error));
        else confirmed(result);
      }
    },
    down: () => clearTimeout(openTimer),
    gone: (error) => error !== null && fail(error),
  });

  function confirmed(result: unknown): void {
    const position = isFields(result) ? result.position : undefined;
    options.confirmed(typeof position === 'number' ? position : -1);
    wasConfirmed = true;
    ready.resolve();
  }

  /** A stream that once ran outlasts a hub in trouble; one that never ran says so at once. */
  function refused(error: SynodError): void {
    if (wasConfirmed && isPassing(error)) line.drop(error);
    else fail(error);
  }

  function fail(error: unknown): void {
    ready.reject(error);
    sequence.fail(error);
    void close();
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      clearTimeout(openTimer);
      signal?.removeEventListener('abort', stop);
      ready.reject(closedEarly());
      line.close();
      await options.leave();
      options.onClosed();
    })();
    return closing;
  }

  function stop(): void {
    sequence.stop();
    void close();
  }

  const stream: LiveStream<T> = {
    ready: ready.promise,
    async next() {
      options.beforeNext();
      const result = await sequence.next();
      if (!result.done) options.delivered(result.value);
      return result;
    },
    async return() {
      sequence.stop();
      await close();
      return { done: true, value: undefined };
    },
    async close() {
      sequence.stop();
      await close();
    },
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: () => stream.close(),
  };
  if (signal?.aborted) stop();
  else signal?.addEventListener('abort', stop);
  return { stream, line, fail };
}

function notOpened(): SynodError {
  return new SynodError('request.timeout', 'the hub did not open the stream in time');
}

function ended(reason: string): SynodError {
  return new SynodError('connection.lost', `the hub ended the stream (${reason})`);
}

function closedEarly(): SynodError {
  return new SynodError('client.closed', 'the stream was closed before the hub had opened it');
}
