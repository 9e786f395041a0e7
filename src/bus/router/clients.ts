/**
 * A client comes and goes. When it goes, its requests that wait are forgotten, those that run are
 * let run, the questions put to it are refused, and whoever stood still because of it goes on.
 */
import { orphan } from './answers.ts';
import { errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Attachment, Peer, PeerClosing } from './peer.ts';
import { refuseQuestions } from './questions.ts';
import { receive } from './requests.ts';
import { type Client, createClient } from './state.ts';
import { deliver, release, relieve } from './toward-client.ts';

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
      exchange.stats.routing_errors += 1;
      const what = framing === 'ndjson' ? 'Message' : 'Frame';
      const { messageBytesMax } = exchange.limits;
      const line = errorLine('null', {
        code: 'bus.too-large',
        message: `${what} too large: ${bytes} bytes or more; max_input_buffer is ${messageBytesMax}`,
        mayHaveRun: false,
        detail: { limit: messageBytesMax },
      });
      deliver(exchange, client, line, null);
    },
    garbled() {
      exchange.stats.routing_errors += 1;
      const line = errorLine('null', {
        code: 'bus.parse',
        message: 'the message is not UTF-8',
        mayHaveRun: false,
        detail: { remedy: 'send JSON as UTF-8' },
      });
      deliver(exchange, client, line, null);
    },
    drained() {
      relieve(exchange, client);
    },
    get owed() {
      return client.asks.size;
    },
    closed(reason) {
      if (client.isGone) return;
      leave(exchange, client);
      onGone(peer.label, reason);
    },
  };
}

function leave(exchange: Exchange, client: Client): void {
  client.isGone = true;
  exchange.clients.delete(client);
  exchange.stats.client_disconnects += 1;
  release(client);
  refuseQuestions(exchange, client);
  for (const newest of [...client.asks.values()]) {
    for (let ask: typeof newest | null = newest; ask; ) {
      const { twin }: typeof newest = ask;
      orphan(exchange, ask);
      ask = twin;
    }
  }
  exchange.sessions.leave(client);
}
