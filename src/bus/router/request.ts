/**
 * The life of one request: it begins with an id of our own and ends with exactly one answer [BU1].
 * `answered` is the worker's own, `failed` is the bus's; both remove the request from every place
 * it is in, so a second answer finds nothing.
 */

import type { ByteLine } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';
import { type Envelope, withId } from '../process/scan-message.ts';
import { recordEnd } from './audit.ts';
import type { Batch } from './batch.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Wishes } from './extension.ts';
import type { BusClient, BusRequest, Link, Pool, SessionRecord } from './state.ts';
import { deliver, reconsider } from './to-client.ts';

/** Ids of abandoned requests remembered for one worker; only its load is reckoned from them. */
const ABANDONED_MAX = 10_000;

export interface NewRequest {
  readonly client: BusClient;
  readonly id: string;
  readonly method: string;
  readonly turn: string | null;
  readonly agentId: string | null;
  readonly pools: readonly Pool[];
  readonly session: SessionRecord | null;
  readonly batch: Batch | null;
  readonly wishes: Wishes | null;
}

export function beginRequest(exchange: Exchange, asked: NewRequest): BusRequest {
  const { client, session, wishes } = asked;
  // What outlives the chunk it came in must not keep the chunk alive.
  const id = detached(asked.id);
  exchange.lastId += 1;
  exchange.pending += 1;
  client.pending += 1;
  const request: BusRequest = {
    client,
    id,
    method: detached(asked.method),
    turn: asked.turn === null ? null : detached(asked.turn),
    agentId: asked.agentId === null ? null : detached(asked.agentId),
    pools: asked.pools,
    session,
    batch: asked.batch,
    wireId: `"${exchange.wirePrefix}${exchange.lastId.toString(36)}"`,
    startedAt: exchange.clock.now(),
    item: null,
    queue: null,
    link: null,
    share: null,
    sequence: 0,
    isDone: false,
    stopDeadline: null,
    kept: null,
    parentEventId: wishes?.parentEventId ?? null,
    claimedSubject: wishes?.subject ?? null,
    twin: client.requests.get(id) ?? null,
  };
  client.requests.set(id, request);
  if (session) {
    session.requests.set(request, request);
    exchange.sessions.setBusy(session, true);
  }
  return request;
}

/** The worker answered. */
export function answered(exchange: Exchange, request: BusRequest, envelope: Envelope): void {
  const { link, kept } = request;
  const outcome = envelope.hasError ? 'error' : 'ok';
  remove(exchange, request);
  reply(exchange, request, withId(envelope, request.id), link);
  recordEnd(exchange, request, outcome);
  if (!kept) return;
  exchange.keys.settle(kept, envelope);
  for (const repeat of kept.waiting) repeated(exchange, repeat, envelope);
  kept.waiting.clear();
}

/** It was answered before, under the same key. */
export function repeated(exchange: Exchange, request: BusRequest, answer: Envelope): void {
  remove(exchange, request);
  reply(exchange, request, withId(answer, request.id), null);
  recordEnd(exchange, request, 'repeated');
}

/** The bus answers, because no worker will. */
export function failed(exchange: Exchange, request: BusRequest, problem: BusProblem): void {
  const { kept } = request;
  remove(exchange, request);
  exchange.stats.routing_errors += 1;
  request.client.refused += 1;
  reply(exchange, request, errorLine(request.id, problem), null);
  recordEnd(exchange, request, problem.code);
  if (!kept || kept.waiting.delete(request)) return;
  // The first of its key is over without an answer that could be kept. Its repeats end like it:
  // a worker may still be at it, and it must not run twice without their knowledge.
  exchange.keys.forget(kept);
  const repeats = [...kept.waiting];
  kept.waiting.clear();
  for (const repeat of repeats) failed(exchange, repeat, problem);
}

/** The bus stops: every request left is told that no answer will come, and whether it may have run. */
export function failRest(exchange: Exchange): void {
  const rest: BusRequest[] = [];
  for (const client of exchange.clients) rest.push(...client.requests.values());
  // Those under a key may have lost their client, and a repeat may still wait for them.
  for (const { links, waiting } of exchange.pools.all) {
    for (const queue of [waiting, ...links.map((link) => link.waiting)]) {
      for (const { request } of queue.live()) if (request) rest.push(request);
    }
    for (const { inFlight } of links) rest.push(...inFlight.values());
  }
  for (const newest of rest) {
    for (let request: BusRequest | null = newest; request; request = request.twin) {
      if (request.isDone) continue;
      failed(exchange, request, {
        code: 'bus.draining',
        message: `the bus stopped before ${request.method} was answered`,
        mayHaveRun: request.link !== null,
      });
    }
  }
}

/** Removes it from its worker without waiting for the worker: cancelled, or out of time. */
export function abandon(exchange: Exchange, request: BusRequest): boolean {
  const { link, item } = request;
  if (item) request.queue?.drop(item);
  if (!link) return false;
  link.abandoned.set(request.wireId, { at: exchange.clock.now(), share: request.share });
  request.share = null;
  if (link.abandoned.size > ABANDONED_MAX) {
    for (const oldest of link.abandoned.keys()) {
      forgetAbandoned(link, oldest);
      break;
    }
  }
  return true;
}

/** The worker is done with it, or has had its time; false when there is no such thing. */
export function forgetAbandoned({ abandoned }: Link, id: string): boolean {
  const known = abandoned.get(id);
  if (known?.share) known.share.count -= 1;
  return abandoned.delete(id);
}

/** Ends without an answer, because nobody is there to get one. */
export function dismiss(exchange: Exchange, request: BusRequest, outcome: string): void {
  remove(exchange, request);
  recordEnd(exchange, request, outcome);
}

function remove(exchange: Exchange, request: BusRequest): void {
  request.isDone = true;
  request.stopDeadline?.();
  const { link } = request;
  if (request.share) request.share.count -= 1;
  if (link) {
    link.inFlight.delete(request.wireId);
    if (link.blockedBy.size > 0) reconsider(link);
    if (link.inFlight.size === 0) link.onIdle?.();
  }
  if (request.item) {
    request.queue?.drop(request.item);
    if (request.item.stay && request.item.isInPool) request.item.stay.queued -= 1;
    request.item = null;
    request.queue = null;
  }
  const { session } = request;
  if (session) {
    session.requests.delete(request);
    if (session.requests.size === 0) exchange.sessions.setBusy(session, false);
  }
  forgetId(request.client, request);
  request.client.pending -= 1;
  exchange.pending -= 1;
  if (exchange.pending === 0) exchange.onQuiet?.();
}

function forgetId(client: BusClient, request: BusRequest): void {
  const newest = client.requests.get(request.id);
  if (newest === request) {
    if (request.twin) client.requests.set(request.id, request.twin);
    else client.requests.delete(request.id);
    return;
  }
  for (let one = newest; one; one = one.twin ?? undefined) {
    if (one.twin === request) one.twin = request.twin;
  }
}

function reply(exchange: Exchange, request: BusRequest, line: ByteLine, link: Link | null): void {
  if (request.batch) request.batch.answer(line);
  else deliver(exchange, request.client, line, link);
}
