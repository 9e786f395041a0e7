/**
 * The echo worker, as the reference has it: a request is answered with what it brought, a
 * notification of a session with `echo.notification`. It is also what the bus is measured with, so
 * it does as little as it can.
 */
import type { JsonObject } from '../process/json-object.ts';
import { CODE } from './program-error.ts';
import { type LineIo, type LineOutput, type LineProgram, serveLines } from './stdio-lines.ts';

export function runEcho(io: LineIo): Promise<void> {
  return serveLines(createEcho, io);
}

export function createEcho(output: LineOutput): LineProgram {
  return {
    take(message) {
      const { id, method, params, sessionId } = message;
      if (typeof method !== 'string') {
        // A response, or nothing at all: only something with an id can want an answer.
        const wants = id !== undefined && !('result' in message) && !('error' in message);
        if (wants) output.send(answer(id, sessionId, { error: NO_METHOD }));
        return;
      }
      const timestamp = new Date().toISOString();
      if (id !== undefined) {
        const result = { echo: params ?? {}, method, timestamp };
        output.send(answer(id, sessionId, { result }));
      } else if (sessionId !== undefined) {
        output.send({
          jsonrpc: '2.0',
          method: 'echo.notification',
          sessionId,
          params: { original: { method, params: params ?? {} }, timestamp },
        });
      }
    },
  };
}

const NO_METHOD = { code: CODE.invalidRequest, message: 'a request names its method as a string' };

function answer(id: unknown, sessionId: unknown, outcome: JsonObject): JsonObject {
  return sessionId === undefined
    ? { jsonrpc: '2.0', id, ...outcome }
    : { jsonrpc: '2.0', id, sessionId, ...outcome };
}
