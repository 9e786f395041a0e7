/**
 * Methods the bus answers itself. Their names begin with `stdio_bus/`, and no worker ever sees them.
 */
import { randomUUID } from 'node:crypto';
import { type ByteLine, messageOf } from '../process/line.ts';
import type { BusCounts } from './bus.ts';
import { type BusProblem, errorLine, isProblem, problem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { hello } from './hello.ts';
import { denying } from './policy.ts';
import type { BusClient, SessionRecord } from './state.ts';
import { deliver } from './to-client.ts';

const PREFIX = 'stdio_bus/';

export const isForBus = (method: string): boolean => method.startsWith(PREFIX);

export interface BusCall {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  /** The top-level `sessionId`, if any. */
  readonly session: string | null;
}

/** A session belongs to the subject that made it; all clients without an identity count as one. */
export function strangerTo(exchange: Exchange, client: BusClient, id: string): BusProblem | null {
  const session = exchange.sessions.find(id);
  if (!session || session.subject === (client.identity?.subjectId ?? null)) return null;
  return problem('bus.policy', `session ${id} is somebody else's`);
}

/** Shaking hands is for everybody; the rest is asked of the policy like any method. */
function denied(exchange: Exchange, client: BusClient, { method }: BusCall): BusProblem | null {
  if (method === `${PREFIX}hello` || method === `${PREFIX}ping`) return null;
  const rule = denying(exchange.policy, { method, pool: '', identity: client.identity });
  if (!rule) return null;
  return problem('bus.policy', `${method} is not allowed: ${rule.reason ?? 'a rule denies it'}`);
}

export function answerByBus(exchange: Exchange, client: BusClient, call: BusCall): ByteLine {
  const outcome = denied(exchange, client, call) ?? carryOut(exchange, client, call);
  if (isProblem(outcome)) {
    exchange.stats.routing_errors += 1;
    return errorLine(call.id, outcome);
  }
  return `{"jsonrpc":"2.0","id":${call.id},"result":${messageOf(outcome)}}` as ByteLine;
}

function carryOut(exchange: Exchange, client: BusClient, call: BusCall): object {
  switch (call.method.slice(PREFIX.length)) {
    case 'hello':
      return hello(call.params, call.session ?? `bus-${randomUUID()}`);
    case 'ping':
      return { pong: true };
    case 'stats':
      return { ...exchange.stats, ...countsOf(exchange) };
    case 'attach':
      return attach(exchange, client, call);
    case 'close':
      return close(exchange, client, call);
    default:
      return problem('bus.method-unknown', `the bus has no method ${call.method}`);
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
  { params, session }: BusCall,
): SessionRecord | BusProblem {
  const named = (params as { sessionId?: unknown } | undefined)?.sessionId;
  const id = typeof named === 'string' ? named : session;
  const known = id === null ? undefined : exchange.sessions.find(id);
  if (known) return strangerTo(exchange, client, known.id) ?? known;
  return problem('bus.session-unknown', `the bus knows no session ${JSON.stringify(id)}`);
}

/** Joins a session without asking its worker anything, and takes what was missed. */
function attach(exchange: Exchange, client: BusClient, call: BusCall): object {
  const known = sessionOf(exchange, client, call);
  if (isProblem(known)) return known;
  const session = exchange.sessions.use(known.id, client, exchange.clock.now());
  const { missed, dropped } = exchange.sessions.deliverMissed(session, (line) =>
    deliver(exchange, client, line, null),
  );
  return { sessionId: session.id, worker: session.link?.worker.name ?? null, missed, dropped };
}

function close(exchange: Exchange, client: BusClient, call: BusCall): object {
  const session = sessionOf(exchange, client, call);
  if (isProblem(session)) return session;
  const { id, requests } = session;
  if (requests.size > 0) {
    return problem('bus.invalid', `session ${id} has ${requests.size} requests in flight`);
  }
  exchange.sessions.forget(session);
  return { sessionId: id, closed: true };
}
