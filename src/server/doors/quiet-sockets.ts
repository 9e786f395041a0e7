/**
 * Sockets that say nothing keep nobody out [SV6]. A connection is quiet until it has sent a whole request,
 * and again once that is answered; of more than so many the one quiet for longest is closed. So whoever
 * opens thousands and says nothing uses up neither descriptors nor places of those who speak.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

export const QUIET_SOCKETS_MAX = 512;

export function boundQuietSockets(server: Server, max: number = QUIET_SOCKETS_MAX): void {
  /** In the order in which they fell silent. */
  const quiet = new Set<Socket>();

  function rest(socket: Socket): void {
    quiet.delete(socket);
    if (socket.destroyed) return;
    quiet.add(socket);
    const [longest] = quiet;
    if (quiet.size > max) longest?.destroy();
  }

  /** One for all: most of what an idle connection would hold otherwise is what is called when it ends. */
  function forget(this: Socket): void {
    quiet.delete(this);
  }

  server.on('connection', (socket) => {
    rest(socket);
    socket.on('close', forget);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    if (hasBody(request)) request.once('end', () => quiet.delete(socket));
    else quiet.delete(socket);
    response.once('close', () => rest(socket));
  });
  server.on('upgrade', ({ socket }) => quiet.delete(socket));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
