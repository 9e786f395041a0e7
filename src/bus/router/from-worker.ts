/**
 * What a worker says: answers, notifications, questions. An answer goes to the client that asked, by the id
 * we gave it [BU2]; anything else goes where its session is, and only if that session lives on this
 * very worker: a worker cannot speak into the sessions of another [BU8].
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { type Envelope, readExt, scan, withId } from '../process/scan-message.ts';
import { idsNamed, isCancel } from './cancel.ts';
import type { Exchange } from './exchange.ts';
import { putQuestion } from './questions.ts';
import { answered, forgetAbandoned } from './request.ts';
import { stamped } from './said.ts';
import {
  type BusClient,
  type BusRequest,
  isAwaited,
  type Link,
  type SessionRecord,
} from './state.ts';
import { livesOn } from './stays.ts';
import { deliver } from './to-client.ts';
import { pump } from './to-worker.ts';

export function receiveFromWorker(
  exchange: Exchange,
  link: Link,
  lines: readonly ByteLine[],
): void {
  let isSensible = false;
  for (const line of lines) {
    const envelope = scan(line);
    if (envelope.kind === 'problem' || envelope.kind === 'batch' || envelope.kind === 'invalid') {
      link.worker.stray(line);
      continue;
    }
    isSensible = true;
    if (envelope.kind === 'response') answer(exchange, link, envelope);
    else if (envelope.kind === 'request') question(exchange, link, envelope);
    else notification(exchange, link, envelope);
  }
  if (isSensible) link.worker.alive(isAwaited(link));
  if (link.waiting.length > 0 || link.pool.waiting.length > 0) pump(exchange, link);
}

function answer(exchange: Exchange, link: Link, envelope: Envelope): void {
  const id = envelope.id as string;
  const request = link.inFlight.get(id);
  if (request) {
    answered(exchange, request, envelope);
    return;
  }
  // Late, because it was cancelled or out of time: expected. Anything else the worker made up.
  if (forgetAbandoned(link, id)) return;
  exchange.stats.routing_errors += 1;
  exchange.log('debug', `[worker=${link.worker.name}] answered what nobody asked: id ${id}`);
}

function question(exchange: Exchange, link: Link, envelope: Envelope): void {
  // A worker such as `cat` gives a request back as it is: its sender gets it, under its own id.
  const echoed = link.inFlight.get(envelope.id as string);
  if (echoed && echoed.method === envelope.method) {
    deliver(exchange, echoed.client, withId(envelope, echoed.id), link);
    return;
  }
  const session = sessionOf(exchange, link, envelope);
  const named = isElsewhere(exchange, link, envelope) ? null : requestNamed(link, envelope);
  const asked = named ?? onlyRequestOf(session);
  const client = asked?.client ?? firstOf(exchange, envelope, session);
  putQuestion(exchange, link, client, envelope, session);
}

function notification(exchange: Exchange, link: Link, envelope: Envelope): void {
  if (isCancel(envelope.method as string)) {
    withdrawOne(exchange, link, idsNamed(envelope));
    return;
  }
  const session = sessionOf(exchange, link, envelope);
  const asked = requestNamed(link, envelope) ?? onlyRequestOf(session);
  if (session) {
    const seq = exchange.sessions.said.keep(session, envelope.line);
    for (const client of session.clients) {
      const requestId = client === asked?.client ? asked.id : null;
      deliver(exchange, client, stamped(envelope, seq, requestId), link);
    }
    return;
  }
  const isStrange = isElsewhere(exchange, link, envelope);
  const client = isStrange ? null : (asked?.client ?? firstOf(exchange, envelope, null));
  if (!client) {
    exchange.stats.routing_errors += 1;
    const where = envelope.sessionId === null ? 'no session' : `session ${envelope.sessionId}`;
    exchange.log('debug', `[worker=${link.worker.name}] ${envelope.method} for ${where}: nobody's`);
    return;
  }
  // Outside of sessions there are no numbers.
  deliver(exchange, client, asked ? stamped(envelope, null, asked.id) : envelope.line, link);
}

function sessionOf(exchange: Exchange, link: Link, { sessionId }: Envelope): SessionRecord | null {
  const session = sessionId ? exchange.sessions.find(sessionId) : undefined;
  return session && livesOn(session, link) ? session : null;
}

/** The session it names is known, and not this worker's: naming a request does not open it. */
function isElsewhere(exchange: Exchange, link: Link, { sessionId }: Envelope): boolean {
  const session = sessionId ? exchange.sessions.find(sessionId) : undefined;
  return session !== undefined && !livesOn(session, link);
}

/** Who answers for a session; with a single client on the bus there is no doubt who is meant. */
function firstOf(
  exchange: Exchange,
  { sessionId }: Envelope,
  session: SessionRecord | null,
): BusClient | null {
  if (session) {
    for (const client of session.clients) return client;
    return null;
  }
  if (sessionId || exchange.clients.size !== 1) return null;
  for (const client of exchange.clients) return client;
  return null;
}

/** The request a worker says its message belongs to, in `_ext.requestId`, by the id it was given. */
function requestNamed(link: Link, envelope: Envelope): BusRequest | null {
  if (envelope.extStart === -1) return null;
  const id = readExt(envelope)?.requestId;
  return id === undefined ? null : (link.inFlight.get(JSON.stringify(id)) ?? null);
}

/** With one request in flight in a session, what the session says belongs to it. */
function onlyRequestOf(session: SessionRecord | null): BusRequest | null {
  if (session?.requests.size !== 1) return null;
  for (const request of session.requests.values()) return request;
  return null;
}

/** A worker takes a question back: its client is told, under the id the client knows. */
function withdrawOne(exchange: Exchange, link: Link, ids: ReadonlySet<string>): void {
  for (const question of link.questions.values()) {
    if (!ids.has(question.id)) continue;
    const told = {
      jsonrpc: '2.0',
      method: '$/cancelRequest',
      params: { id: JSON.parse(question.wireId) },
    };
    deliver(exchange, question.client, messageOf(told), null);
  }
}
