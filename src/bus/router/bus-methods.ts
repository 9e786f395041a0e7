/**
 * Methods the bus answers itself. Their names begin with `stdio_bus/`, and no worker ever sees them.
 */
import { randomUUID } from 'node:crypto';
import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { textAt } from '../process/json-object.ts';
import { type Envelope, readParams } from '../process/scan-message.ts';
import type { BusCounts } from './bus.ts';
import { type BusProblem, errorLine, isProblem, problem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { hello } from './hello.ts';
import { denial } from './policy.ts';
import type { BusClient, SessionRecord } from './state.ts';
import { deliver, reconsider } from './to-client.ts';

const PREFIX = 'stdio_bus/';

export const isForBus = (method: string): boolean => method.startsWith(PREFIX);

/** A session belongs to the subject that made it; all clients without an identity count as one. */
export function strangerTo(exchange: Exchange, client: BusClient, id: string): BusProblem | null {
  const session = exchange.sessions.find(id);
  if (!session || session.subject === (client.identity?.subjectId ?? null)) return null;
  return problem('bus.policy', `session ${id} is somebody else's`);
}

export function answerByBus(exchange: Exchange, client: BusClient, call: Envelope): ByteLine {
  const id = call.id as string;
  const outcome = carryOut(exchange, client, call);
  if (isProblem(outcome)) {
    exchange.stats.routing_errors += 1;
    return errorLine(id, outcome);
  }
  return `{"jsonrpc":"2.0","id":${id},"result":${messageOf(outcome)}}` as ByteLine;
}

function carryOut(exchange: Exchange, client: BusClient, call: Envelope): object {
  const method = call.method as string;
  const name = method.slice(PREFIX.length);
  // The handshake is open to every client; the rest is asked of the policy like any method.
  if (name !== 'hello' && name !== 'ping') {
    const denied = denial(exchange.policy, { method, pool: '', identity: client.identity });
    if (denied) return denied;
  }
  switch (name) {
    case 'hello':
      return hello(readParams(call), call.sessionId ?? `bus-${randomUUID()}`);
    case 'ping':
      return { pong: true };
    case 'stats':
      return { ...exchange.stats, ...countsOf(exchange) };
    case 'attach':
      return attach(exchange, client, call);
    case 'close':
      return close(exchange, client, call);
    default:
      return problem('bus.method-unknown', `the bus has no method ${method}`);
  }
}

export function countsOf(exchange: Exchange): BusCounts {
  let workers = 0;
  for (const { links } of exchange.pools.all) {
    for (const { worker } of links) if (worker.state === 'ready') workers += 1;
  }
  return {
    workers,
    clients: exchange.clients.size,
    sessions: exchange.sessions.size,
    pending: exchange.pending,
  };
}

/** The session a call names, if this client may use it. */
function sessionOf(
  exchange: Exchange,
  client: BusClient,
  call: Envelope,
): SessionRecord | BusProblem {
  const id = textAt(readParams(call), 'sessionId') ?? call.sessionId;
  const known = id === null ? undefined : exchange.sessions.find(id);
  if (known) return strangerTo(exchange, client, known.id) ?? known;
  return problem('bus.session-unknown', `the bus knows no session ${JSON.stringify(id)}`);
}

/** Joins a session without asking its worker anything, and takes what was missed. */
function attach(exchange: Exchange, client: BusClient, call: Envelope): object {
  const known = sessionOf(exchange, client, call);
  if (isProblem(known)) return known;
  const session = exchange.sessions.use(known.id, client, exchange.clock.now());
  for (let stay = session.home; stay; stay = stay.next) if (stay.link) reconsider(stay.link);
  const { missed, dropped } = exchange.sessions.deliverMissed(session, (line) =>
    deliver(exchange, client, line, null),
  );
  return {
    sessionId: session.id,
    worker: session.home?.link?.worker.name ?? null,
    missed,
    dropped,
  };
}

function close(exchange: Exchange, client: BusClient, call: Envelope): object {
  const session = sessionOf(exchange, client, call);
  if (isProblem(session)) return session;
  const { id, requests } = session;
  if (requests.size > 0) {
    return problem('bus.invalid', `session ${id} has ${requests.size} requests in flight`);
  }
  exchange.sessions.forget(session);
  return { sessionId: id, closed: true };
}
