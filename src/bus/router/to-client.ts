/**
 * The way to a client, with real back-pressure [BU10]: a message is never dropped; once more than
 * `max_output_queue` waits for a client, it is not read from, and the worker that writes to it stands
 * still, unless others want something of that worker: nobody waits for another's reading. It goes on
 * when half is gone; if it does not for `backpressure_timeout_sec`, or twice as much waits because the
 * worker went on for others, the client is cut off, and only the client. What waits for all of them together is bounded as
 * well: past it a client counts as full with much less [BU27].
 */
import type { ByteLine } from '../process/byte-line.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { BusClient, Link } from './state.ts';

/** How many times `max_output_queue` may wait for a client whose worker others need. */
const OVERRUN_MAX = 2;
/** How many times `max_output_queue` may wait for all clients together, before each may have no more than a share. */
const TOGETHER_MAX = 2;
export const SHARE_BYTES: number = 64 * 1024;

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
  count(exchange, client);
  exchange.stats.messages_out += 1;
  exchange.stats.bytes_out += line.length;
  if (peer.queuedBytes > fullAt(exchange)) block(exchange, client, link, line.length);
}

/** Bytes that may wait for one client now. */
function fullAt({ waitingBytes, limits: { queueBytesMax } }: Exchange): number {
  if (waitingBytes <= queueBytesMax * TOGETHER_MAX) return queueBytesMax;
  return Math.min(queueBytesMax, SHARE_BYTES);
}

/** To be called when what waits for a client has changed. */
export function count(exchange: Exchange, client: BusClient): void {
  const bytes = client.isGone ? 0 : client.peer.queuedBytes;
  exchange.waitingBytes += bytes - client.waitingBytes;
  client.waitingBytes = bytes;
}

/** Answers a client's message with an error of the bus. */
export function refuse(exchange: Exchange, client: BusClient, id: string, why: BusProblem): void {
  exchange.stats.routing_errors += 1;
  client.refused += 1;
  deliver(exchange, client, errorLine(id, why), null);
}

function block(exchange: Exchange, client: BusClient, link: Link | null, bytes: number): void {
  const { backpressureMs, queueBytesMax } = exchange.limits;
  // One message of any size always passes.
  if (client.peer.queuedBytes - bytes > queueBytesMax * OVERRUN_MAX) {
    return cutOff(exchange, client, 'while others waited for the same worker');
  }
  if (link && !client.blocks.has(link)) {
    client.blocks.add(link);
    link.blockedBy.add(client);
    reconsider(link);
  }
  if (client.stopPatience) return;
  client.peer.setReading(false);
  client.stopPatience = exchange.clock.after(backpressureMs, () =>
    cutOff(exchange, client, `for ${backpressureMs / 1000} s`),
  );
}

function cutOff(exchange: Exchange, { peer }: BusClient, how: string): void {
  exchange.log(
    'warn',
    `[client=${peer.label}] did not read ${how} with ${peer.queuedBytes} bytes waiting: closed`,
  );
  peer.close('timeout', false);
}

/** A worker stands still while all who want something of it do not read. */
export function reconsider(link: Link): void {
  const isHeld = link.blockedBy.size > 0 && !hasReader(link);
  if (isHeld === link.isHeld) return;
  link.isHeld = isHeld;
  link.worker.setReading(!isHeld);
}

/** Somebody who reads waits for an answer of it, or listens to a session that lives there. */
function hasReader({ inFlight, stays, blockedBy }: Link): boolean {
  for (const { client } of inFlight.values()) {
    if (!client.isGone && !blockedBy.has(client)) return true;
  }
  for (const { session } of stays) {
    for (const client of session.clients) if (!blockedBy.has(client)) return true;
  }
  return false;
}

/** The client took something. */
export function relieve(exchange: Exchange, client: BusClient): void {
  count(exchange, client);
  if (!client.stopPatience || client.peer.queuedBytes > fullAt(exchange) / 2) return;
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
  for (const link of links) link.blockedBy.delete(client);
  for (const link of links) reconsider(link);
}
