/** An HTTP server with the hub's doors behind it: one for each address or socket that the hub listens on. */
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import { type HostLimit, replyLimited } from '../doors/host-limit.ts';
import type { HttpDoor } from '../doors/http.ts';
import { type OpsDoor, operationOf } from '../doors/ops.ts';
import { boundQuietSockets } from '../doors/quiet-sockets.ts';
import { readBody } from '../doors/request-body.ts';
import type { SseDoor } from '../doors/sse.ts';
import { boundUnread, boundUnreadParts, holdWhileUnread } from '../doors/unread-answers.ts';
import type { WebSocketDoor } from '../doors/websocket.ts';

export interface Doors {
  readonly http: HttpDoor;
  readonly ops: OpsDoor;
  /** Without it `/v1/stream` is a route like any other. */
  readonly sse?: SseDoor;
  readonly websocket: WebSocketDoor;
  readonly hostLimit: HostLimit;
  /** How long an answer may lie without a byte of it taken. */
  readonly unreadMs?: number | undefined;
}

/** Imported, it would bring the whole of `fetch` with it, which is a fifth of the hub's start. */
const { createServer } = process.getBuiltinModule('node:http');

const OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000,
  // Some clients offer HTTP/2 with every request; they are answered in what we speak.
  shouldUpgradeCallback: ({ headers }) => /^websocket$/i.test(headers.upgrade ?? ''),
};

export function createDoorServer(
  { http, ops, sse, websocket, hostLimit, unreadMs }: Doors,
  isOwnerSocket: boolean,
  tls?: { readonly key: string; readonly cert: string },
): Server {
  const isSecure = tls !== undefined;
  // What makes a `Request` of ours is loaded when one is first needed: most hubs are asked for operations.
  let listener: Promise<RequestListener> | null = null;
  const openListener = async (): Promise<RequestListener> => {
    const { getRequestListener } = await import('@hono/node-server');
    return getRequestListener((request, { incoming, outgoing }) =>
      http(request, {
        ...{ isOwnerSocket, isSecure, headers: incoming.headers },
        readBody: () => readBody(incoming as IncomingMessage),
        owedTo: (hold) => holdWhileUnread(outgoing as ServerResponse, hold),
      }),
    );
  };
  const route: RequestListener = (request, response) => {
    const limited = hostLimit.check(request.socket.remoteAddress);
    const operation = operationOf(request);
    if (limited !== null) return replyLimited(response, limited);
    if (operation === null && sse && isStream(request)) {
      return sse.handle(request, response, isOwnerSocket);
    }
    if (operation !== null) {
      boundUnread(response, unreadMs);
      return ops(operation, request, response, { isOwnerSocket, isSecure });
    }
    boundUnreadParts(response, unreadMs);
    listener ??= openListener();
    void listener.then((answer) => answer(request, response));
  };
  // Its answer leaves behind those before it, and would lie here with all the others: it is begun when it is its turn.
  const inOrder: RequestListener = (request, response) => {
    if (response.socket !== null) route(request, response);
    else response.once('socket', () => route(request, response));
  };
  const server = isSecure
    ? process
        .getBuiltinModule('node:https')
        .createServer({ ...OPTIONS, ...tls, minVersion: 'TLSv1.2' }, inOrder)
    : createServer(OPTIONS, inOrder);
  boundQuietSockets(server);
  server.on('upgrade', (request, stream, head) => {
    websocket.upgrade({ request, stream, head, isOwnerSocket });
  });
  server.on('clientError', (_, socket) => {
    const answer = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n';
    if (socket.writable) socket.end(answer, () => socket.destroy());
    else socket.destroy();
  });
  return server;
}

function isStream({ method, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && /^\/v1\/stream(\?|$)/.test(url);
}
