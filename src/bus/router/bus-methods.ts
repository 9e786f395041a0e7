/**
 * Methods the bus answers itself. Their names begin with `stdio_bus/`, and no worker ever sees them.
 */
import { randomUUID } from 'node:crypto';
import { type Line, messageOf } from '../process/line.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { hello } from './hello.ts';
import { denying } from './policy.ts';
import type { Client } from './state.ts';
import { deliver } from './toward-client.ts';

const PREFIX = 'stdio_bus/';

export const isForBus = (method: string): boolean => method.startsWith(PREFIX);

export interface BusCall {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  /** The top-level `sessionId`, if any. */
  readonly session: string | null;
}

/** A session is of the subject that made it; who the bus does not know counts as one. */
export function strangerTo(exchange: Exchange, client: Client, id: string): BusProblem | null {
  const session = exchange.sessions.find(id);
  if (!session || session.subject === (client.identity?.subjectId ?? null)) return null;
  return problem('bus.policy', `session ${id} is somebody else's`);
}

/** Shaking hands is for everybody; the rest is asked of the policy like any method. */
function denied(exchange: Exchange, client: Client, { method }: BusCall): BusProblem | null {
  if (method === `${PREFIX}hello` || method === `${PREFIX}ping`) return null;
  const rule = denying(exchange.policy, { method, pool: '', identity: client.identity });
  if (!rule) return null;
  return problem('bus.policy', `${method} is not allowed: ${rule.reason ?? 'a rule denies it'}`);
}

export function answerByBus(exchange: Exchange, client: Client, call: BusCall): Line {
  const outcome = denied(exchange, client, call) ?? carryOut(exchange, client, call);
  if (isBusProblem(outcome)) {
    exchange.stats.routing_errors += 1;
    return errorLine(call.id, outcome);
  }
  return `{"jsonrpc":"2.0","id":${call.id},"result":${messageOf(outcome)}}` as Line;
}

function carryOut(exchange: Exchange, client: Client, call: BusCall): object {
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

export function countsOf(exchange: Exchange): {
  workers: number;
  clients: number;
  sessions: number;
  pending: number;
} {
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

/** Joins a session without asking its worker anything, and takes what was missed. */
function attach(exchange: Exchange, client: Client, call: BusCall): object {
  const id = sessionIdOf(call);
  const known = id === null ? undefined : exchange.sessions.find(id);
  if (!known) return unknownSession(id);
  const stranger = strangerTo(exchange, client, known.id);
  if (stranger) return stranger;
  const session = exchange.sessions.use(known.id, client, exchange.clock.now());
  const { missed, dropped } = exchange.sessions.deliverMissed(session, (line) =>
    deliver(exchange, client, line, null),
  );
  return { sessionId: session.id, worker: session.link?.worker.name ?? null, missed, dropped };
}

function close(exchange: Exchange, client: Client, call: BusCall): object {
  const id = sessionIdOf(call);
  const session = id === null ? undefined : exchange.sessions.find(id);
  if (!session) return unknownSession(id);
  const stranger = strangerTo(exchange, client, session.id);
  if (stranger) return stranger;
  if (session.asks.size > 0) {
    return problem('bus.invalid', `session ${id} has ${session.asks.size} requests in flight`);
  }
  exchange.sessions.forget(session);
  return { sessionId: session.id, closed: true };
}

function sessionIdOf({ params, session }: BusCall): string | null {
  const named = (params as { sessionId?: unknown } | undefined)?.sessionId;
  return typeof named === 'string' ? named : session;
}

const unknownSession = (id: string | null): BusProblem =>
  problem('bus.session-unknown', `the bus knows no session ${JSON.stringify(id)}`);

const problem = (code: BusProblem['code'], message: string): BusProblem => ({
  code,
  message,
  mayHaveRun: false,
});

const isBusProblem = (value: object): value is BusProblem =>
  'code' in value && 'mayHaveRun' in value;
