/**
 * Methods the bus answers itself. Their names begin with `stdio_bus/`, and no worker ever sees them.
 */
import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { isObject, textAt } from '../process/json-object.ts';
import { type Envelope, readParams } from '../process/scan-message.ts';
import { loadCrypto } from '../process/secrets.ts';
import type { BusCounts } from './bus.ts';
import { type BusProblem, errorLine, invalid, isProblem, problem } from './errors.ts';
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
      return hello(readParams(call), call.sessionId ?? `bus-${loadCrypto().randomUUID()}`);
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
  const params = readParams(call);
  if (isObject(params) && typeof (params.sessionId ?? '') !== 'string') {
    return invalid('"params.sessionId" must be a string', 'give the sessionId as a string');
  }
  const id = textAt(params, 'sessionId') ?? call.sessionId;
  const known = id === null ? undefined : exchange.sessions.find(id);
  if (known) return strangerTo(exchange, client, known.id) ?? known;
  return problem('bus.session-unknown', `the bus knows no session ${JSON.stringify(id)}`);
}

/**
 * Joins a session without asking its worker anything. It gets what came after the notification it
 * heard last, by its own word; without one, what was said while nobody was there.
 */
function attach(exchange: Exchange, client: BusClient, call: Envelope): object {
  const known = sessionOf(exchange, client, call);
  if (isProblem(known)) return known;
  const after = afterOf(readParams(call), known);
  if (typeof after !== 'number') return after;
  const session = exchange.sessions.use(known.id, client, exchange.clock.now());
  for (let stay = session.home; stay; stay = stay.next) if (stay.link) reconsider(stay.link);
  const { id: sessionId, last } = session;
  const { missed, dropped } = exchange.sessions.said.replay(session, after, (line) =>
    deliver(exchange, client, line, null),
  );
  client.replayed += missed;
  const worker = session.home?.link?.worker.name ?? null;
  return { sessionId, worker, missed, dropped, last };
}

/** From which number on it wants to hear. */
function afterOf(params: unknown, { id, base, last, heard }: SessionRecord): number | BusProblem {
  const { after = null } = isObject(params) ? params : {};
  if (after === null) return heard;
  if (typeof after !== 'number' || !Number.isInteger(after) || after < 0) {
    const remedy = 'give the _ext.seq of the last notification you got, or 0';
    return invalid('"after" must be a whole number from 0', remedy);
  }
  if (after === 0) return base;
  if (after >= base && after <= last) return after;
  const message = `session ${id} of which you heard ${after} was forgotten; this is another of that name`;
  return problem('bus.session-unknown', message);
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
