/**
 * The way out of a sandbox: a proxy on a socket that only the sandbox is given. Every request in the clear is
 * decided by scheme, host, port and method, every tunnel by host and port as the method CONNECT, and both go
 * to the address that was decided on [PO14]. It ends with its child.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type GuardDecision, GuardRefused } from './decision.ts';
import { connectPinned, type FetchOptions } from './fetch.ts';

const CONNECTIONS_MAX = 256;
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const CONNECT_MS = 30_000;
/** About the way, and so not for the other end. */
const OURS = /^(proxy-.*|connection|keep-alive|te|trailer|upgrade|transfer-encoding|host)$/i;

export interface Egress {
  /** The folder with the socket, for the sandbox. */
  readonly dir: string;
  close(): Promise<void>;
}

export interface EgressAsk {
  /** Throws unless it is allowed. */
  tunnel(host: string, port: number): Promise<GuardDecision>;
  fetch(url: string, options: FetchOptions): Promise<Response>;
}

export async function openEgress(ask: EgressAsk): Promise<Egress> {
  const dir = await mkdtemp(join(tmpdir(), 'synod-egress-'));
  const sockets = new Set<Socket>();
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((request, response) => void forward(ask, request, response));
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on(
    'connect',
    (request, socket, head) => void tunnel(ask, request, socket as Socket, head),
  );
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(join(dir, 'egress.sock'), resolve);
  });
  return {
    dir,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function tunnel(
  ask: EgressAsk,
  request: IncomingMessage,
  near: Socket,
  head: Buffer,
): Promise<void> {
  near.on('error', () => near.destroy());
  try {
    const { hostname, port } = new URL(`tcp://${request.url ?? ''}`);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const decision = await ask.tunnel(host, Number(port));
    const signal = AbortSignal.timeout(CONNECT_MS);
    const far = await connectPinned({ host, port: Number(port), signal }, decision);
    far.on('error', () => near.destroy());
    far.once('close', () => near.destroy());
    near.once('close', () => far.destroy());
    near.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) far.write(head);
    near.pipe(far).pipe(near);
  } catch (error) {
    near.end(`HTTP/1.1 ${statusOf(error)} refused\r\ncontent-length: 0\r\n\r\n`);
  }
}

async function forward(
  ask: EgressAsk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  try {
    const headers = Object.entries(request.headers).filter(([name]) => !OURS.test(name));
    const body = await readBody(request);
    const answer = await ask.fetch(request.url ?? '', {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      ...(body.length > 0 && { body }),
      // The program follows redirections itself, and asks anew for each.
      redirect: 'manual',
      signal: left.signal,
    });
    const given = [...answer.headers].filter(([name]) => !OURS.test(name));
    response.writeHead(answer.status, Object.fromEntries(given));
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body as never), response);
  } catch (error) {
    const said = error instanceof GuardRefused ? error.decision.why : 'the connection failed';
    if (!response.headersSent)
      response.writeHead(statusOf(error), { 'content-type': 'text/plain' });
    response.end(`${said}\n`);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error(`a body over ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function statusOf(error: unknown): number {
  return error instanceof GuardRefused ? 403 : 502;
}
