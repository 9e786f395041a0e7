/**
 * A hub whose every move is told by a test: a real WebSocket server that answers
 * nothing by itself. It can break off, repeat, stay silent and refuse, which a
 * real hub does only when one is unlucky. Every wait has a deadline.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { DEADLINE_MS } from '../e2e/deadline.ts';

export interface Asked {
  readonly id: number | string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export interface Seat {
  readonly protocols: readonly string[];
  /** The next request, whatever it is. */
  asked(): Promise<Asked>;
  /** Requests that came and were not taken by `asked`. */
  readonly waiting: number;
  answer(to: Asked, result: unknown): void;
  refuse(
    to: Asked,
    envelope: { error_code: string; message: string; detail?: object; retry_after?: number },
    code?: number,
  ): void;
  push(method: string, params: unknown): void;
  raw(text: string): void;
  /** Cuts the connection without a word. */
  cut(): void;
  close(code: number, reason: string): void;
  readonly ended: Promise<unknown>;
}

export interface ScriptedHub {
  readonly url: string;
  /** The next connection that was opened. */
  seat(): Promise<Seat>;
  /** Turns every upgrade away with this status, and says why over HTTP. */
  turnAway(status: number | null, envelope?: object): void;
  /** Upgrades that were turned away. */
  readonly turnedAway: number;
  readonly seats: number;
  close(): Promise<void>;
}

/** Values in the order they came, for whoever awaits them. */
function createArrivals<T>(what: string): {
  add(value: T): void;
  next(): Promise<T>;
  readonly size: number;
} {
  const values: T[] = [];
  const waiters: ((value: T) => void)[] = [];
  return {
    get size() {
      return values.length;
    },
    add(value) {
      const waiter = waiters.shift();
      if (waiter === undefined) values.push(value);
      else waiter(value);
    },
    next() {
      if (values.length > 0) return Promise.resolve(values.shift() as T);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`no ${what} within ${DEADLINE_MS} ms`)),
          DEADLINE_MS,
        );
        waiters.push((value) => {
          clearTimeout(timer);
          resolve(value);
        });
      });
    },
  };
}

export async function openScriptedHub(socketPath?: string): Promise<ScriptedHub> {
  const arrivals = createArrivals<Seat>('connection');
  let refusal: { status: number; body: string } | null = null;
  let turnedAway = 0;
  let seats = 0;
  const http = createServer((_, response) => {
    response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' });
    response.end(refusal?.body ?? '{}');
  });
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('synod.v1') ? 'synod.v1' : false),
  });
  http.on('upgrade', (request, socket, head) => {
    if (refusal !== null) {
      turnedAway++;
      socket.end(`HTTP/1.1 ${refusal.status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, socket, head, (ws) => {
      seats++;
      const offered = request.headers['sec-websocket-protocol'] ?? '';
      arrivals.add(
        seatOf(
          ws,
          offered.split(',').map((one) => one.trim()),
        ),
      );
    });
  });
  http.listen(socketPath ?? { port: 0, host: '127.0.0.1' });
  await once(http, 'listening');
  const address = http.address();
  return {
    url:
      typeof address === 'string' ? address : `http://127.0.0.1:${(address as AddressInfo).port}`,
    seat: () => arrivals.next(),
    turnAway(status, envelope = {}) {
      refusal = status === null ? null : { status, body: JSON.stringify(envelope) };
    },
    get turnedAway() {
      return turnedAway;
    },
    get seats() {
      return seats;
    },
    async close() {
      for (const ws of server.clients) ws.terminate();
      server.close();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function seatOf(ws: WebSocket, protocols: readonly string[]): Seat {
  const requests = createArrivals<Asked>('request');
  ws.on('message', (raw) => requests.add(JSON.parse(raw.toString())));
  const say = (value: object): void => ws.send(JSON.stringify({ jsonrpc: '2.0', ...value }));
  return {
    protocols,
    asked: () => requests.next(),
    get waiting() {
      return requests.size;
    },
    answer: ({ id }, result) => say({ id, result }),
    refuse: ({ id }, envelope, code = -32_000) =>
      say({ id, error: { code, message: envelope.message, data: envelope } }),
    push: (method, params) => say({ method, params }),
    raw: (text) => ws.send(text),
    cut: () => ws.terminate(),
    close: (code, reason) => ws.close(code, reason),
    ended: once(ws, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) }).catch(
      (cause: unknown) => {
        // Not a rejection: most tests never ask when a connection ended.
        return cause;
      },
    ),
  };
}

/** A pushed message as the hub writes it. */
export function messageAt(position: number, channel = 'room'): Record<string, unknown> {
  return {
    channel,
    sender: 'bob',
    body: { n: position },
    sent_at: 1,
    message_id: `m${position}`,
    seq: position + 1,
    position,
  };
}
