/**
 * A client comes and goes. When it goes, its requests are taken back, the questions put to it go to
 * another client of their session or are refused, and workers stopped because of it go on.
 */

import { orphan } from './cancel.ts';
import type { Exchange } from './exchange.ts';
import { receive } from './from-client.ts';
import type { Attachment, Peer, PeerClosing } from './peer.ts';
import { handOnQuestions } from './questions.ts';
import { type BusClient, createClient } from './state.ts';
import { count, reconsider, refuse, release, relieve } from './to-client.ts';

export function attach(
  exchange: Exchange,
  peer: Peer,
  onGone: (label: string, reason: PeerClosing) => void,
): Attachment {
  const client = createClient(peer);
  exchange.clients.add(client);
  exchange.stats.client_connects += 1;
  return {
    receive(line) {
      if (!client.isGone) receive(exchange, client, line);
    },
    tooLarge(bytes, framing) {
      const what = framing === 'ndjson' ? 'Message' : 'Frame';
      const { messageBytesMax: limit } = exchange.limits;
      const message = `${what} too large: ${bytes} bytes or more; max_input_buffer is ${limit}`;
      refuse(exchange, client, 'null', { code: 'bus.too-large', message, detail: { limit } });
    },
    garbled() {
      const detail = { remedy: 'send JSON as UTF-8' };
      const message = 'the message is not UTF-8';
      refuse(exchange, client, 'null', { code: 'bus.parse', message, detail });
    },
    drained() {
      relieve(exchange, client);
    },
    get owed() {
      return client.pending;
    },
    get refused() {
      return client.refused;
    },
    get replayed() {
      return client.replayed;
    },
    closed(reason) {
      if (client.isGone) return;
      leave(exchange, client);
      onGone(peer.label, reason);
    },
  };
}

function leave(exchange: Exchange, client: BusClient): void {
  client.isGone = true;
  count(exchange, client);
  exchange.clients.delete(client);
  exchange.stats.client_disconnects += 1;
  release(client);
  handOnQuestions(exchange, client);
  for (const { links } of exchange.pools.all) for (const { shares } of links) shares.delete(client);
  for (const newest of [...client.requests.values()]) {
    for (let request: typeof newest | null = newest; request; ) {
      const { twin }: typeof newest = request;
      orphan(exchange, request);
      request = twin;
    }
  }
  const sessions = [...client.sessions];
  exchange.sessions.leave(client);
  // Those who do not read may now be alone with a worker.
  for (const { home } of sessions) {
    for (let stay = home; stay; stay = stay.next) if (stay.link) reconsider(stay.link);
  }
}
