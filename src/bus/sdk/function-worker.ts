/**
 * A JavaScript function as a worker: the port of `src/bus/process/worker.ts` without a process. Requests
 * run at the same time, as many as the pool allows; what the function throws is the answer's error. It
 * shares this process, so nothing restarts it, and a function that blocks the loop blocks the bus.
 */

import { type ByteLine, messageOf, textOf } from '../process/byte-line.ts';
import {
  cancelledId,
  isObject,
  type JsonObject,
  objectAt,
  textAt,
} from '../process/json-object.ts';
import type { Worker, WorkerEvents, WorkerState } from '../process/worker.ts';
import {
  errorOfWire,
  InvalidStateError,
  ResourceExhaustedError,
  type StdioBusError,
  wireOfError,
} from './errors.ts';
import type { Params } from './message.ts';

export interface FunctionRequest {
  readonly method: string;
  readonly params: unknown;
  /** What the function returns is not used. */
  readonly isNotification: boolean;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly ext: JsonObject;
}

export interface FunctionContext {
  /** `pool/0` */
  readonly worker: string;
  /** Aborted when the request is cancelled or the bus stops. */
  readonly signal: AbortSignal;
  /** To the clients of the request's session, about this request; ends when it may send more. */
  notify(method: string, params?: Params): Promise<void>;
  /** Asks the client; throws its refusal. */
  request(method: string, params?: Params): Promise<unknown>;
}

export type WorkerFunction = (request: FunctionRequest, context: FunctionContext) => unknown;

/** Bytes a function may have written that were not read yet. */
export const UNREAD_BYTES_MAX = 41_943_040;
const QUESTIONS_MAX = 1_024;

export function openFunctionWorker(
  pool: string,
  index: number,
  run: WorkerFunction,
  events: WorkerEvents,
): Worker {
  const name = `${pool}/${index}`;
  const running = new Map<unknown, AbortController>();
  const questions = new Map<string, PromiseWithResolvers<unknown>>();
  let state: WorkerState = 'idle';
  let starts = 0;
  let sent = 0;
  let asked = 0;
  let isReading = true;
  let isFlushing = false;
  let unread: ByteLine[] = [];
  let unreadBytes = 0;
  const readers: (() => void)[] = [];
  let onIdle = (): void => {};

  function write(line: ByteLine): void {
    if (state !== 'ready' && state !== 'stopping') return;
    if (unreadBytes + line.length > UNREAD_BYTES_MAX) {
      throw new ResourceExhaustedError(
        `${name} wrote ${UNREAD_BYTES_MAX} bytes that nobody has read; await ctx.notify`,
      );
    }
    unread.push(line);
    unreadBytes += line.length;
    flushSoon();
  }

  function flushSoon(): void {
    if (isFlushing || !isReading) return;
    isFlushing = true;
    queueMicrotask(flush);
  }

  function flush(): void {
    isFlushing = false;
    if (!isReading || unread.length === 0) return;
    const lines = unread;
    unread = [];
    unreadBytes = 0;
    events.onLines(worker, lines);
    for (const go of readers.splice(0)) go();
  }

  function receive(message: JsonObject): void {
    const { id, method, params } = message;
    if (typeof method !== 'string') return settle(message);
    const cancelled = cancelledId(message);
    if (cancelled !== null) return running.get(cancelled.id)?.abort();
    const isNotification = id === undefined;
    // A notification has no id, and must be found at the stop like everything else.
    const key = isNotification ? Symbol(method) : id;
    const controller = new AbortController();
    running.set(key, controller);
    const sessionId = textAt(message, 'sessionId');
    const about = {
      ...(sessionId !== undefined && { sessionId }),
      ...(!isNotification && { _ext: { requestId: id } }),
    };
    const request: FunctionRequest = {
      ...{ method, params, isNotification, sessionId },
      agentId: textAt(message, 'agentId'),
      ext: objectAt(message, '_ext'),
    };
    const context: FunctionContext = {
      worker: name,
      signal: controller.signal,
      notify: (word, said) => say({ jsonrpc: '2.0', method: word, ...about, params: said }),
      request: (word, said) => ask({ jsonrpc: '2.0', method: word, ...about, params: said }),
    };
    void outcomeOf(run, request, context).then((outcome) => {
      running.delete(key);
      if (!isNotification) answer(id, outcome, sessionId);
      else if ('error' in outcome) {
        const text = `failed on the notification ${method}: ${outcome.error.message}`;
        events.onNote(worker, { level: 'warn', what: 'stderr', text });
      }
      if (running.size === 0) onIdle();
    });
  }

  function answer(id: unknown, outcome: Outcome, sessionId: string | undefined): void {
    try {
      write(messageOf({ jsonrpc: '2.0', id, ...outcome, sessionId }));
    } catch (error) {
      // Not JSON, such as a BigInt or a circle; or too much unread. The request must end anyway.
      unread.push(messageOf({ jsonrpc: '2.0', id, error: wireOfError(error), sessionId }));
      flushSoon();
    }
  }

  async function say(message: object): Promise<void> {
    write(messageOf(message));
    if (!isReading) await new Promise<void>((resolve) => readers.push(resolve));
  }

  function ask(message: object): Promise<unknown> {
    if (questions.size >= QUESTIONS_MAX) {
      return Promise.reject(
        new ResourceExhaustedError(`${name} waits for ${QUESTIONS_MAX} answers of clients`),
      );
    }
    const question = Promise.withResolvers<unknown>();
    const id = `f${++asked}`;
    questions.set(id, question);
    try {
      write(messageOf({ ...message, id }));
    } catch (error) {
      questions.delete(id);
      question.reject(error);
    }
    return question.promise;
  }

  function settle(message: JsonObject): void {
    const question = questions.get(String(message.id));
    questions.delete(String(message.id));
    if ('error' in message) question?.reject(errorOfWire(message.error));
    else question?.resolve(message.result);
  }

  function fail(error: StdioBusError): void {
    for (const question of questions.values()) question.reject(error);
    questions.clear();
  }

  const worker: Worker = {
    name,
    pool,
    get state() {
      return state;
    },
    pid: null,
    get starts() {
      return starts;
    },
    queuedBytes: 0,
    start() {
      if (state !== 'idle') return;
      state = 'starting';
      starts++;
      queueMicrotask(() => {
        if (state !== 'starting') return;
        state = 'ready';
        events.onReady(worker);
      });
    },
    send(line) {
      sent++;
      // The bus has checked it: one JSON object.
      const message: unknown = JSON.parse(textOf(line));
      queueMicrotask(() => isObject(message) && receive(message));
      return sent;
    },
    setReading(isOn) {
      isReading = isOn;
      flushSoon();
    },
    stray() {},
    alive() {},
    async stop(graceMs) {
      if (state === 'stopped' || state === 'stopping') return;
      const wasStarted = state === 'ready' || state === 'starting';
      state = 'stopping';
      if (running.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        onIdle = resolve;
        const timer = setTimeout(resolve, graceMs);
        for (const controller of running.values()) controller.abort();
        await promise;
        clearTimeout(timer);
      }
      flush();
      fail(new InvalidStateError(`${name} was stopped`));
      state = 'stopped';
      for (const go of readers.splice(0)) go();
      if (!wasStarted) return;
      events.onDown(worker, {
        reason: 'was stopped',
        exitCode: null,
        signal: null,
        handedOver: sent,
        unsent: [],
        restartInMs: null,
        stderrTail: [],
      });
    },
  };
  return worker;
}

type Outcome = { readonly result: unknown } | { readonly error: ReturnType<typeof wireOfError> };

async function outcomeOf(
  run: WorkerFunction,
  request: FunctionRequest,
  context: FunctionContext,
): Promise<Outcome> {
  try {
    // An answer must have a result; a function that returns nothing answers null.
    return { result: (await run(request, context)) ?? null };
  } catch (error) {
    return { error: wireOfError(error) };
  }
}
