/**
 * A line to a bus: NDJSON over a Unix socket or TCP, opened at the first request and again after it
 * broke. Every request ends once: with its answer, with a time-out, or with the connection. What
 * the agent asks is handed to whoever knows a person; without one it is refused.
 */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { isObject, type JsonObject } from '../process/json-object.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';
import { createLineReader } from './stdio-lines.ts';

export type BusAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number };

export interface BusLineOptions {
  readonly address: BusAddress;
  /** Shown to a bus that wants one, before anything else. */
  readonly token: string | null;
  readonly connectMs?: number;
  note(text: string): void;
  /** A notification of the agent, or of the bus. */
  onNotification(message: JsonObject): void;
  /** A request of the agent; what it answers goes back as the result. */
  onRequest(message: JsonObject): Promise<JsonObject>;
}

export interface BusRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Members beside `params`: sessionId, pool, agentId. */
  readonly around: JsonObject;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface BusLine {
  readonly isOpen: boolean;
  request(request: BusRequest): Promise<JsonObject>;
  notify(method: string, params: JsonObject, around: JsonObject): void;
  close(): void;
}

interface Pending {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const CONNECT_MS = 5_000;

export function createBusLine(options: BusLineOptions): BusLine {
  const { address, note } = options;
  const pending = new Map<string, Pending>();
  let opening: Promise<Socket> | null = null;
  let socket: Socket | null = null;
  let count = 0;

  async function open(): Promise<Socket> {
    const fresh = createConnection({ ...address });
    fresh.setEncoding('utf8');
    try {
      await once(fresh, 'connect', {
        signal: AbortSignal.timeout(options.connectMs ?? CONNECT_MS),
      });
    } catch (cause) {
      fresh.destroy();
      throw unreachable(address, cause);
    }
    const lines = createLineReader(note, (message) => take(fresh, message));
    fresh.on('data', (chunk: string) => lines.push(chunk));
    fresh.on('error', (error) => note(`the bus: ${error.message}`));
    fresh.once('close', () => lose(fresh));
    socket = fresh;
    if (options.token !== null) write(fresh, { type: 'auth', token: options.token });
    return fresh;
  }
  function lose(lost: Socket): void {
    if (socket !== lost) return;
    socket = null;
    opening = null;
    const error = new ProgramError(CODE.transport, 'the connection to the bus broke', {
      retryable: true,
      mayHaveRun: true,
    });
    for (const one of pending.values()) one.reject(error);
    pending.clear();
  }
  function connected(): Promise<Socket> {
    opening ??= open().catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  }
  function write(to: Socket, message: JsonObject): void {
    to.write(`${JSON.stringify(message)}\n`);
  }
  function take(from: Socket, message: JsonObject): void {
    const { id, method } = message;
    if (typeof method === 'string') {
      if (id === undefined) options.onNotification(message);
      else void answer(from, message);
      return;
    }
    const one = typeof id === 'string' ? pending.get(id) : undefined;
    if (one === undefined) return;
    pending.delete(id as string);
    if (isObject(message.error)) one.reject(errorOf(message.error));
    else one.resolve(isObject(message.result) ? message.result : { value: message.result });
  }
  async function answer(to: Socket, message: JsonObject): Promise<void> {
    const { id, sessionId } = message;
    const around = { jsonrpc: '2.0', id, ...(sessionId !== undefined && { sessionId }) };
    try {
      write(to, { ...around, result: await options.onRequest(message) });
    } catch (error) {
      const code = error instanceof ProgramError ? error.code : CODE.internal;
      write(to, { ...around, error: { code, message: messageOfError(error) } });
    }
  }
  return {
    get isOpen() {
      return socket !== null;
    },
    async request({ method, params, around, timeoutMs, signal }) {
      const to = await connected();
      signal?.throwIfAborted();
      count += 1;
      const id = `p${count}`;
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      pending.set(id, { resolve, reject });
      const cancel = (error: ProgramError): void => {
        if (!pending.delete(id)) return;
        write(to, { jsonrpc: '2.0', method: '$/cancelRequest', ...around, params: { id } });
        reject(error);
      };
      const late = `${method} was not answered in ${timeoutMs} ms`;
      const timer = setTimeout(
        () => cancel(new ProgramError(CODE.timeout, late, { retryable: true })),
        timeoutMs,
      );
      const onAbort = (): void => cancel(new ProgramError(CODE.cancelled, 'cancelled'));
      signal?.addEventListener('abort', onAbort, { once: true });
      write(to, { jsonrpc: '2.0', id, method, ...around, params });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },
    notify(method, params, around) {
      if (socket !== null) write(socket, { jsonrpc: '2.0', method, ...around, params });
    },
    close() {
      socket?.end();
      if (socket !== null) lose(socket);
    },
  };
}

function errorOf(error: JsonObject): ProgramError {
  const code = typeof error.code === 'number' ? error.code : CODE.internal;
  const message = typeof error.message === 'string' ? error.message : 'an error without a message';
  return new ProgramError(code, message, isObject(error.data) ? error.data : {});
}

function unreachable(address: BusAddress, cause: unknown): ProgramError {
  const where = 'path' in address ? address.path : `${address.host}:${address.port}`;
  const why = messageOfError(cause);
  return new ProgramError(
    CODE.unavailable,
    `no bus at ${where}: ${why}; start one, or say where it is`,
    { retryable: true },
    { cause },
  );
}
