/**
 * JSON-RPC as lines on two streams: the wire of MCP over stdio. A line that is not
 * JSON or no message is answered with its error, as JSON-RPC says. When the input
 * ends, what was asked is still answered before the wire closes, within a limit; a
 * reader that does not read stops being read from.
 */
import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { parseJson } from '../../wire/fields.ts';
import { cancelledIds, requestIds } from '../../wire/mcp/messages.ts';

export interface LineWire extends Transport {
  /** Settles when the wire has closed. */
  readonly closed: Promise<void>;
}

export interface LineWireOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** A request came in; it has not been judged. */
  onRequest?(method: string): void;
  /** The client will ask nothing more. */
  onInputEnd(): void;
}

export const LINE_BYTES_MAX: number = 10 * 1024 * 1024;
const LAST_ANSWERS_MS = 5000;
const NEWLINE = 0x0a;

export function createLineWire(options: LineWireOptions): LineWire {
  const { input, output, onInputEnd } = options;
  const { promise: closed, resolve: settleClosed } = Promise.withResolvers<void>();
  const unanswered = new Set<unknown>();
  let parts: Buffer[] = [];
  let partBytes = 0;
  let isEnding = false;
  let isClosed = false;
  let lastAnswers: NodeJS.Timeout | undefined;

  const wire: LineWire = {
    closed,
    async start() {
      input.on('data', read).on('end', end).on('close', end).on('error', end);
      output.on('error', close);
      if (input.readableEnded || input.destroyed) end();
    },
    async send(message) {
      write(message);
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id);
    },
    async close() {
      close();
    },
  };

  function read(chunk: Buffer | string): void {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      parts.push(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      const line = Buffer.concat(parts).toString('utf8').trim();
      parts = [];
      partBytes = 0;
      if (line !== '') take(line);
    }
    parts.push(rest);
    partBytes += rest.length;
    if (partBytes <= LINE_BYTES_MAX) return;
    refuse(null, -32_600, `a line is at most ${LINE_BYTES_MAX} bytes`);
    close();
  }

  function take(line: string): void {
    const value = parseJson(line);
    if (value === undefined) return refuse(null, -32_700, 'the line is not JSON');
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const [id] = requestIds(value);
      const isId = typeof id === 'string' || typeof id === 'number';
      return refuse(isId ? id : null, -32_600, 'the line is no JSON-RPC 2.0 message');
    }
    if (isJSONRPCRequest(message)) {
      options.onRequest?.(message.method);
      // Who listens is answered by what happens, and that may never end.
      if (message.method !== 'subscriptions/listen') unanswered.add(message.id);
    }
    wire.onmessage?.(message);
    // A cancelled call is not answered.
    for (const id of cancelledIds(message)) settle(id);
  }

  function refuse(id: string | number | null, code: number, message: string): void {
    write({ jsonrpc: '2.0', id, error: { code, message } });
  }

  function write(message: object): void {
    if (isClosed) return;
    if (output.write(`${JSON.stringify(message)}\n`)) return;
    input.pause();
    output.once('drain', () => input.resume());
  }

  function settle(id: unknown): void {
    unanswered.delete(id);
    if (isEnding && unanswered.size === 0) close();
  }

  function end(): void {
    if (isEnding || isClosed) return;
    isEnding = true;
    onInputEnd();
    if (unanswered.size === 0) close();
    else lastAnswers = setTimeout(close, LAST_ANSWERS_MS);
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(lastAnswers);
    input.off('data', read).pause();
    wire.onclose?.();
    settleClosed();
  }

  return wire;
}
