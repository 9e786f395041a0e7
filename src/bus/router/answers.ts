/**
 * The end of a request: exactly one answer, whoever gives it [BU1]. `answered` is the worker's own,
 * `failed` is the bus's; both take the ask out of every place it is in, so a second answer finds
 * nothing.
 */
import { type Envelope, withId } from '../process/envelope.ts';
import type { Line } from '../process/line.ts';
import { recordEnd } from './audit.ts';
import { type BusProblem, errorLine } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Answer } from './keys.ts';
import type { Ask, Client, Link } from './state.ts';
import { deliver } from './toward-client.ts';

/** Ids of abandoned requests remembered for one worker; only its load is reckoned from them. */
const ABANDONED_MAX = 10_000;

/** The worker answered. */
export function answered(exchange: Exchange, ask: Ask, line: Line, envelope: Envelope): void {
  const { link, kept } = ask;
  const outcome = envelope.hasError ? 'error' : 'ok';
  remove(exchange, ask);
  reply(exchange, ask, withId(line, envelope, ask.id), link);
  recordEnd(exchange, ask, outcome);
  if (!kept) return;
  exchange.keys.settle(kept, { line, envelope });
  for (const repeat of kept.waiting) repeated(exchange, repeat, { line, envelope });
  kept.waiting.clear();
}

/** It was answered before, under the same key. */
export function repeated(exchange: Exchange, ask: Ask, { line, envelope }: Answer): void {
  remove(exchange, ask);
  reply(exchange, ask, withId(line, envelope, ask.id), null);
  recordEnd(exchange, ask, 'repeated');
}

/** The bus answers, because no worker will. */
export function failed(exchange: Exchange, ask: Ask, problem: BusProblem): void {
  const { kept } = ask;
  remove(exchange, ask);
  exchange.stats.routing_errors += 1;
  reply(exchange, ask, errorLine(ask.id, problem), null);
  recordEnd(exchange, ask, problem.code);
  if (!kept || kept.waiting.delete(ask)) return;
  // The first of its key is over without an answer that could be kept. Its repeats end like it:
  // a worker may still be at it, and nobody is to run it twice behind their backs.
  exchange.keys.forget(kept);
  const repeats = [...kept.waiting];
  kept.waiting.clear();
  for (const repeat of repeats) failed(exchange, repeat, problem);
}

/** Takes it off its worker's hands without waiting for the worker: cancelled, or out of time. */
export function abandon(exchange: Exchange, ask: Ask): boolean {
  const { link, item } = ask;
  if (item) ask.queue?.drop(item);
  if (!link) return false;
  link.abandoned.set(ask.wireId, exchange.clock.now());
  if (link.abandoned.size > ABANDONED_MAX) {
    for (const oldest of link.abandoned.keys()) {
      link.abandoned.delete(oldest);
      break;
    }
  }
  return true;
}

/** The client left: what waits is forgotten, what runs is let run, and no one is told. */
export function orphan(exchange: Exchange, ask: Ask): void {
  const { kept, link } = ask;
  if (kept && !kept.waiting.delete(ask)) {
    // Under a key the answer is kept for whoever comes back with it, or waits for it already.
    if (link || kept.waiting.size > 0) return;
    exchange.keys.forget(kept);
  }
  abandon(exchange, ask);
  remove(exchange, ask);
  recordEnd(exchange, ask, 'client gone');
}

function remove(exchange: Exchange, ask: Ask): void {
  ask.isDone = true;
  ask.stopDeadline?.();
  const { link } = ask;
  if (link) {
    link.inFlight.delete(ask.wireId);
    if (link.inFlight.size === 0) link.onIdle?.();
  }
  if (ask.item) {
    ask.queue?.drop(ask.item);
    if (ask.session && ask.item.isInPool) ask.session.queued -= 1;
    ask.item = null;
    ask.queue = null;
  }
  const { session } = ask;
  if (session) {
    session.asks.delete(ask);
    if (session.asks.size === 0) exchange.sessions.setBusy(session, false);
  }
  forgetId(ask.client, ask);
  exchange.pending -= 1;
  if (exchange.pending === 0) exchange.onQuiet?.();
}

function forgetId(client: Client, ask: Ask): void {
  const newest = client.asks.get(ask.id);
  if (newest === ask) {
    if (ask.twin) client.asks.set(ask.id, ask.twin);
    else client.asks.delete(ask.id);
    return;
  }
  for (let one = newest; one; one = one.twin ?? undefined) {
    if (one.twin === ask) one.twin = ask.twin;
  }
}

function reply(exchange: Exchange, ask: Ask, line: Line, link: Link | null): void {
  if (ask.batch) ask.batch.answer(line);
  else deliver(exchange, ask.client, line, link);
}
