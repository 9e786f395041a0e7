/** The Synapse door, on a port of its own. */
import type { AddressInfo } from 'node:net';
import { boundQuietSockets } from '../doors/quiet-sockets.ts';
import type { SynapseOptions } from '../doors/synapse/door.ts';
import type { SynapseConfig } from './config-synapse.ts';
import { listen, shut } from './listen.ts';

/** Not imported, as in `door-server.ts`. */
const { createServer } = process.getBuiltinModule('node:http');

/** A port of its own, because the original's clients ask for any path; plain HTTP is told so. */
export async function openSynapse(
  host: string,
  { port }: SynapseConfig,
  closers: (() => void | Promise<void>)[],
  options: SynapseOptions,
): Promise<number> {
  const { createSynapseDoor } = await import('../doors/synapse/door.ts');
  const door = createSynapseDoor(options);
  closers.push(() => door.close());
  const timeouts = { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 };
  const server = createServer(timeouts, (_, response) => {
    response.writeHead(426, { 'content-type': 'application/json', upgrade: 'websocket' });
    response.end(
      '{"error_code":"validation_error","message":"Synapse clients speak WebSocket here"}',
    );
  });
  boundQuietSockets(server);
  server.on('upgrade', (request, stream, head) => {
    door.upgrade({ request, stream, head, isOwnerSocket: false });
  });
  server.on('clientError', (_, socket) => socket.destroy());
  await listen(server, { host, port });
  closers.push(async () => {
    door.close();
    await shut(server);
  });
  return (server.address() as AddressInfo).port;
}
