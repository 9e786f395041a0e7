/**
 * JSON-RPC, a message a line, with a process of a vendor: our calls, and its requests, which are each
 * answered once. A call whose process ends is rejected; a line that is no message is handed on as text.
 * Codex's app-server leaves out the word `jsonrpc` and does not mind it.
 */
import { isFields } from '../wire/fields.ts';
import { parseLine } from './spoken.ts';

export type Params = Readonly<Record<string, unknown>>;

export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly code: number;
  readonly details: unknown;

  constructor(code: number, message: string, details: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export interface LineRpcOptions {
  write(text: string): void;
  onNotice(method: string, params: Params): void;
  /** Its answer; what it throws is an error for the other side. */
  onRequest(method: string, params: Params): Promise<unknown>;
  onText(line: string): void;
}

export interface LineRpc {
  call(method: string, params: object): Promise<Params>;
  tell(method: string, params?: object): void;
  /** A line of the process. */
  hear(line: string): void;
  /** The process has ended: nothing is answered any more. */
  end(reason: string): void;
}

interface Waiting {
  resolve(result: Params): void;
  reject(error: Error): void;
}

export function createLineRpc({ write, onNotice, onRequest, onText }: LineRpcOptions): LineRpc {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let over: string | null = null;
  const send = (message: object): void => {
    if (over === null) write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };

  async function answer(id: unknown, method: string, params: Params): Promise<void> {
    try {
      send({ id, result: (await onRequest(method, params)) ?? {} });
    } catch (error) {
      const code = error instanceof RpcFailure ? error.code : -32603;
      send({ id, error: { code, message: (error as Error).message } });
    }
  }

  function settle({ id, result, error }: Params): void {
    const one = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (!isFields(error)) return one?.resolve(isFields(result) ? result : {});
    one?.reject(new RpcFailure(Number(error.code), String(error.message ?? ''), error.data));
  }

  return {
    call(method, params) {
      if (over !== null) return Promise.reject(new Error(over));
      last += 1;
      const id = last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
    tell: (method, params) => send({ method, ...(params !== undefined && { params }) }),
    hear(line) {
      const message = parseLine(line);
      if (message === null) return void (line.trim() !== '' && onText(line));
      const { id, method } = message;
      const params = isFields(message.params) ? message.params : {};
      if (typeof method !== 'string') return settle(message);
      if (id === undefined) onNotice(method, params);
      else void answer(id, method, params);
    },
    end(reason) {
      over ??= reason;
      for (const { reject } of waiting.values()) reject(new Error(reason));
      waiting.clear();
    },
  };
}
