/**
 * JSON-RPC, a message a line, to a process of a vendor: Codex's app-server, which leaves out the
 * word `jsonrpc`, and Gemini's `--acp`, which wants it. What it asks of us is refused.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { within } from '../e2e/deadline.ts';
import type { JsonObject } from './dialects/json.ts';
import { objectOf } from './dialects/json.ts';
import type { Started } from './scene.ts';

const ANSWER_MS = 30_000;

export interface StdioRpc {
  /** The result; an error of the other side is thrown. */
  readonly call: (method: string, params: object) => Promise<JsonObject>;
  readonly tell: (method: string) => void;
}

export function openStdioRpc({ child, stderr }: Started): StdioRpc {
  const waiting = new Map<number, (message: JsonObject) => void>();
  let last = 0;
  const write = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  createInterface({ input: child.stdout as Readable }).on('line', (line) => {
    const message = parse(line);
    const { id, method } = message;
    if (method === undefined) waiting.get(Number(id))?.(message);
    else if (id !== undefined) write({ id, error: { code: -32601, message: 'not here' } });
  });
  return {
    async call(method, params) {
      last += 1;
      const id = last;
      const answered = new Promise<JsonObject>((resolve) => waiting.set(id, resolve));
      write({ id, method, params });
      const answer = await within(`${method} is answered`, answered, ANSWER_MS);
      waiting.delete(id);
      if (answer.error !== undefined) {
        throw new Error(`${method}: ${JSON.stringify(answer.error)}\n${stderr()}`);
      }
      return objectOf(answer.result);
    },
    tell: (method) => write({ method }),
  };
}

/** Anything else on the line is not for us. */
function parse(line: string): JsonObject {
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return { method: 'noise' };
  }
}
