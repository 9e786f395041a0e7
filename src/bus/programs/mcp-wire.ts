/**
 * The lines of a worker as a transport of the MCP library. When the input ends, what was asked is
 * still answered before the wire closes, which the library's own transport does not do.
 */
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Server,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isObject, type JsonObject } from '../process/json-object.ts';
import { messageOfError } from './program-error.ts';
import { type LineIo, type LineOutput, type LineProgram, serveLines } from './stdio-lines.ts';

/** A tool that takes longer than this after the client has left is given up. */
const LAST_ANSWERS_MS = 5_000;

export interface McpProgram {
  create(): Server;
  close?(): Promise<void>;
}

export function serveMcp(program: McpProgram, io: LineIo): Promise<void> {
  return serveLines((output) => createWire(program, output, io), io);
}

function createWire(program: McpProgram, output: LineOutput, io: LineIo): LineProgram {
  const unanswered = new Set<unknown>();
  const answered = Promise.withResolvers<void>();
  let isEnding = false;
  const settle = (id: unknown): void => {
    unanswered.delete(id);
    if (isEnding && unanswered.size === 0) answered.resolve();
  };
  const transport: Transport = {
    async start() {},
    async send(message) {
      output.send(message);
      if (!('method' in message)) settle(message.id);
      await output.drained();
    },
    async close() {
      transport.onclose?.();
    },
  };
  const onerror = (error: Error): void => io.note(messageOfError(error));
  const handle = serveStdio(() => program.create(), { transport, onerror });
  return {
    take(value) {
      const message = parse(value);
      if (message === null) {
        const error = { code: -32_600, message: 'not a JSON-RPC 2.0 message' };
        output.send({ jsonrpc: '2.0', id: scalarId(value), error });
        return;
      }
      const cancelled = cancelledRequest(value);
      if (cancelled !== undefined) settle(cancelled);
      else if ('method' in message && 'id' in message) unanswered.add(message.id);
      transport.onmessage?.(message);
    },
    async finish() {
      isEnding = true;
      if (unanswered.size > 0) {
        const late = setTimeout(() => answered.resolve(), LAST_ANSWERS_MS);
        await answered.promise;
        clearTimeout(late);
      }
      await handle.close();
      await program.close?.();
    },
  };
}

function parse(value: JsonObject): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return null;
  }
}

function scalarId({ id }: JsonObject): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** A cancelled request is not answered. */
function cancelledRequest({ method, params }: JsonObject): unknown {
  const isCancel = method === 'notifications/cancelled' && isObject(params);
  return isCancel ? params.requestId : undefined;
}
