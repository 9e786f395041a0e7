/**
 * The way to a client, with real back-pressure [BU10]: a message is never dropped; once more than
 * `max_output_queue` waits for a client, the worker that writes to it stands still and the client
 * is not read from. It goes on when half is gone; if it does not for `backpressure_timeout_sec`,
 * the client is cut off, and only the client.
 */
import type { Line } from '../process/line.ts';
import type { Exchange } from './exchange.ts';
import type { Client, Link } from './state.ts';

/** Sends to a client what `link`, or the bus itself, has for it. */
export function deliver(exchange: Exchange, client: Client, line: Line, link: Link | null): void {
  if (client.isGone) return;
  const { peer } = client;
  peer.send(line);
  exchange.stats.messages_out += 1;
  exchange.stats.bytes_out += line.length;
  if (peer.queuedBytes > exchange.limits.queueBytesMax) block(exchange, client, link);
}

function block(exchange: Exchange, client: Client, link: Link | null): void {
  if (link && !client.blocks.has(link)) {
    client.blocks.add(link);
    link.blockedBy.add(client);
    link.worker.setReading(false);
  }
  if (client.stopPatience) return;
  client.peer.setReading(false);
  const { backpressureMs } = exchange.limits;
  client.stopPatience = exchange.clock.after(backpressureMs, () => {
    exchange.log(
      'warn',
      `[client=${client.peer.label}] did not read for ${backpressureMs / 1000} s with ` +
        `${client.peer.queuedBytes} bytes waiting: closed`,
    );
    client.peer.close('timeout', false);
  });
}

/** The client took something. */
export function relieve(exchange: Exchange, client: Client): void {
  if (!client.stopPatience || client.peer.queuedBytes > exchange.limits.queueBytesMax / 2) return;
  // First, because a worker that goes on may fill the client again at once.
  client.peer.setReading(true);
  release(client);
}

/** Lets go whoever stands still because of this client. */
export function release(client: Client): void {
  client.stopPatience?.();
  client.stopPatience = null;
  const links = [...client.blocks];
  client.blocks.clear();
  for (const link of links) {
    link.blockedBy.delete(client);
    if (link.blockedBy.size === 0) link.worker.setReading(true);
  }
}
