/**
 * The WebSocket door at `/ws`: JSON-RPC 2.0, methods are operation ids, pushes are
 * notifications. Host, Origin and credential are checked before the upgrade.
 *
 * Whatever becomes ready in one turn leaves each socket in one write. A peer that
 * does not read is cut off with 4008 [F3]; one that asks faster than it is served
 * is read more slowly.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import { REFUSALS, toEnvelope } from '../../wire/errors.ts';
import { countConnection } from '../desk/activity.ts';
import type { Caller, Introduction } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import { type Connection, createConnection } from './connection.ts';
import { watchCredential } from './credential-watch.ts';
import { type Guard, introductionOf } from './guard.ts';
import type { HostLimit } from './host-limit.ts';

/** A frame larger than this closes the connection with 1009. */
export const FRAME_BYTES_MAX: number = 4 * 1024 * 1024;
export const CONNECTIONS_MAX = 10_000;
const PING_MS = 30_000;

export interface WebSocketDoor {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, isOwnerSocket: boolean): void;
  readonly size: number;
  /** How many were cut off because they did not read. */
  readonly slowReaders: number;
  close(): void;
}

export interface WebSocketDoorOptions {
  readonly pingMs?: number;
  readonly hostLimit?: HostLimit;
}

export function createWebSocketDoor(
  desk: Desk,
  guard: Guard,
  options: WebSocketDoorOptions = {},
): WebSocketDoor {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has('synod.v1') ? 'synod.v1' : false),
  });
  const connections = new Set<Connection>();
  let slowReaders = 0;
  // A half-open peer answers no ping; after two silent rounds it is gone.
  const pings = setInterval(() => {
    for (const one of connections) one.ping();
  }, options.pingMs ?? PING_MS);
  pings.unref();

  async function admit(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    isOwnerSocket: boolean,
  ): Promise<void> {
    const turned = guard.check(request.headers, isOwnerSocket);
    if (turned !== null) return turnAway(socket, turned.status, turned.envelope);
    const address = (socket as Socket).remoteAddress;
    const limited = options.hostLimit?.check(address) ?? null;
    if (limited !== null) {
      return turnAway(socket, REFUSALS[limited.refused].http, toEnvelope(limited));
    }
    if (!/^\/ws(\?|$)/.test(request.url ?? '')) {
      return turnAway(
        socket,
        404,
        toEnvelope(refuse('operation.unknown', 'WebSockets are at /ws alone')),
      );
    }
    if (connections.size >= CONNECTIONS_MAX) {
      return turnAway(socket, 503, {
        error_code: 'rate_limited',
        message: `the hub holds ${CONNECTIONS_MAX} connections already`,
        detail: { reason: 'limit.reached', limit: 'CONNECTIONS_MAX' },
      });
    }
    const introduction = withProtocols(
      introductionOf(request.headers, `ws-${randomUUID()}`, isOwnerSocket),
      request,
    );
    const caller = await desk.authenticate(introduction);
    if (isRefusal(caller)) {
      return turnAway(socket, REFUSALS[caller.refused].http, toEnvelope(caller));
    }
    server.handleUpgrade(request, socket, head, (ws) => seat(ws, socket, introduction, caller));
  }

  function seat(ws: WebSocket, socket: Duplex, introduction: Introduction, caller: Caller): void {
    const { remoteAddress } = socket as Socket;
    const connection = createConnection(desk, ws, socket, caller, {
      limit: () => options.hostLimit?.check(remoteAddress) ?? null,
      onSlowReader: () => slowReaders++,
    });
    connections.add(connection);
    const countOut = countConnection(caller.activity, Date.now);
    const end = (reason: string): void => connection.close(4001, reason);
    const stopWatching = watchCredential(desk, { introduction, caller, end });
    ws.on('close', () => {
      stopWatching();
      connections.delete(connection);
      countOut();
    });
  }

  return {
    upgrade(request, socket, head, isOwnerSocket) {
      socket.on('error', () => socket.destroy());
      admit(request, socket, head, isOwnerSocket).catch(() => socket.destroy());
    },
    get slowReaders() {
      return slowReaders;
    },
    get size() {
      return connections.size;
    },
    close() {
      clearInterval(pings);
      for (const one of connections) one.close(1001, 'shutting_down');
      server.close();
    },
  };
}

/** A browser cannot set headers on a WebSocket; its credential comes as subprotocols. */
function withProtocols(introduction: Introduction, request: IncomingMessage): Introduction {
  const offered = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((one) => one.trim());
  const read = (prefix: string): string | null => {
    const found = offered.find((one) => one.startsWith(prefix));
    return found === undefined
      ? null
      : Buffer.from(found.slice(prefix.length), 'base64url').toString();
  };
  return {
    ...introduction,
    token: introduction.token ?? read('synod.token.'),
    agent: introduction.agent ?? read('synod.agent.'),
    space: introduction.space ?? read('synod.space.'),
    clientVersion: introduction.clientVersion ?? read('synod.version.'),
  };
}

function turnAway(socket: Duplex, status: number, envelope: unknown): void {
  const body = JSON.stringify(envelope);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    // No timeout of the HTTP server applies to an upgrade: a peer that does not close would stay.
    () => socket.destroy(),
  );
}
