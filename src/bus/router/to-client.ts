/**
 * The way to a client, with real back-pressure [BU10]: a message is never dropped; once more than
 * `max_output_queue` waits for a client, the worker that writes to it stands still and the client
 * is not read from. It goes on when half is gone; if it does not for `backpressure_timeout_sec`,
 * the client is cut off, and only the client.
 */
import type { ByteLine } from '../process/byte-line.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { BusClient, Link } from './state.ts';

/** Sends to a client what `link`, or the bus itself, has for it. */
export function deliver(
  exchange: Exchange,
  client: BusClient,
  line: ByteLine,
  link: Link | null,
): void {
  if (client.isGone) return;
  const { peer } = client;
  peer.send(line);
  exchange.stats.messages_out += 1;
  exchange.stats.bytes_out += line.length;
  if (peer.queuedBytes > exchange.limits.queueBytesMax) block(exchange, client, link);
}

/** Answers a client's message with an error of the bus. */
export function refuse(exchange: Exchange, client: BusClient, id: string, why: BusProblem): void {
  exchange.stats.routing_errors += 1;
  deliver(exchange, client, errorLine(id, why), null);
}

function block(exchange: Exchange, client: BusClient, link: Link | null): void {
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
export function relieve(exchange: Exchange, client: BusClient): void {
  if (!client.stopPatience || client.peer.queuedBytes > exchange.limits.queueBytesMax / 2) return;
  // First, because a worker that goes on may fill the client again at once.
  client.peer.setReading(true);
  release(client);
}

/** Lets the workers go on that were stopped because of this client. */
export function release(client: BusClient): void {
  client.stopPatience?.();
  client.stopPatience = null;
  const links = [...client.blocks];
  client.blocks.clear();
  for (const link of links) {
    link.blockedBy.delete(client);
    if (link.blockedBy.size === 0) link.worker.setReading(true);
  }
}
