/**
 * A WebSocket client as plain as the protocol: it calls, it keeps every notification in the order
 * it came, and it tells how the connection ended. Whatever does not come in time fails.
 */
import { WebSocket } from 'ws';
import { within } from './deadline.ts';
import type { Headers, Json } from './running-hub.ts';

export interface RpcSocket {
  readonly ws: WebSocket;
  /** Every text frame that is no answer to `call`, in the order of arrival. */
  readonly said: readonly Json[];
  /** The answer as it came: with `result` or with `error`. */
  call(method: string, params?: unknown): Promise<Json>;
  /** The result; throws when there was an error. */
  ask(method: string, params?: unknown): Promise<Json>;
  /** The next notification (from the first on) that nobody has taken yet and that fits. */
  next(method: string, isWanted?: (params: Json) => boolean): Promise<Json>;
  /** The next frame that is no answer to `call`, whatever it is. */
  frame(): Promise<Json>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
}

export interface Turned {
  readonly status: number;
  readonly body: Json;
}

/** Opens a connection; throws `Turned` when the hub answers without upgrading. */
export async function openRpcSocket(
  url: string,
  headers: Headers = {},
  protocols: readonly string[] = [],
): Promise<RpcSocket> {
  const ws = connect(url, headers, protocols);
  const said: Json[] = [];
  const taken = new Set<Json>();
  const answers = new Map<string, (answer: Json) => void>();
  const waiting = new Set<() => void>();
  let ids = 0;
  ws.on('message', (raw) => {
    const frame = JSON.parse(raw.toString());
    const answered = answers.get(frame.id);
    if (answered !== undefined) {
      answers.delete(frame.id);
      answered(frame);
      return;
    }
    said.push(frame);
    for (const look of [...waiting]) look();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await opened(ws);
  ws.on('error', () => {});

  function take(what: string, isWanted: (frame: Json) => boolean): Promise<Json> {
    let look = (): void => {};
    const found = new Promise<Json>((resolve) => {
      look = () => {
        const frame = said.find((one) => !taken.has(one) && isWanted(one));
        if (frame === undefined) return;
        taken.add(frame);
        waiting.delete(look);
        resolve(frame);
      };
      waiting.add(look);
      look();
    });
    return within(what, found).finally(() => waiting.delete(look));
  }

  const call = (method: string, params: unknown = {}): Promise<Json> => {
    const id = `test-${++ids}`;
    const answer = new Promise<Json>((resolve) => answers.set(id, resolve));
    ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return within(`an answer to ${method}`, answer);
  };
  return {
    ws,
    said,
    call,
    async ask(method, params) {
      const { result, error } = await call(method, params);
      if (error !== undefined) throw new Error(`${method} was refused: ${JSON.stringify(error)}`);
      return result;
    },
    async next(method, isWanted = () => true) {
      const frame = await take(
        `a ${method} notification`,
        (one) => one.method === method && isWanted(one.params),
      );
      return frame.params;
    },
    frame: () => take('a frame', () => true),
    closed,
    async close() {
      ws.terminate();
      await closed;
    },
  };
}

function connect(url: string, headers: Headers, protocols: readonly string[]): WebSocket {
  const address = `${url.replace(/^http/, 'ws')}/ws`;
  return new WebSocket(address, [...protocols], {
    headers: headers as Record<string, string>,
    perMessageDeflate: false,
  });
}

function opened(ws: WebSocket): Promise<void> {
  return within(
    'the upgrade',
    new Promise((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
      ws.once('unexpected-response', (_, response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const body = text.startsWith('{') ? JSON.parse(text) : {};
          reject({ status: response.statusCode ?? 0, body } satisfies Turned);
        });
      });
    }),
  );
}

/** How the hub turned a WebSocket away; throws when it let it in. */
export async function turnedAway(
  url: string,
  headers: Headers = {},
  protocols: readonly string[] = [],
): Promise<Turned> {
  try {
    const socket = await openRpcSocket(url, headers, protocols);
    await socket.close();
  } catch (turned) {
    return turned as Turned;
  }
  throw new Error('the hub let it in');
}
