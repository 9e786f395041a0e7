/**
 * Where requests time out. A request that says how long it may take has a timer of its own; all
 * others live by `request_timeout_sec`, and a sweep looks for those that are over it, together with
 * idle sessions and requests a worker never answered.
 */
import { cancel } from './cancel.ts';
import type { Exchange } from './exchange.ts';
import { forgetAbandoned } from './request.ts';
import type { BusRequest, Link } from './state.ts';
import { pump } from './to-worker.ts';

const SWEEP_MS_MIN = 10;
const SWEEP_MS_MAX = 5_000;
/** So long a request that was cancelled or out of time counts as work in hand. */
const ABANDONED_MS = 30_000;

/** How long until the next look: fine enough for the shortest limit, never a burden. */
export function sweepEveryMs({ limits: { requestMs, sessionIdleMs } }: Exchange): number {
  const finest = Math.min(requestMs, sessionIdleMs) / 20;
  return Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, finest));
}

export function startDeadline(exchange: Exchange, request: BusRequest, ms: number): void {
  request.stopDeadline = exchange.clock.after(ms, () => {
    timeOut(exchange, request, `${Math.round(exchange.clock.now() - request.startedAt)} ms`);
  });
}

function timeOut(exchange: Exchange, request: BusRequest, after: string): void {
  cancel(exchange, request, {
    code: 'bus.timed-out',
    message: `${request.method} had no answer after ${after}`,
    mayHaveRun: request.link !== null,
  });
}

export function sweep(exchange: Exchange): void {
  const now = exchange.clock.now();
  const { requestMs } = exchange.limits;
  for (const request of lateRequests(exchange, now - requestMs)) {
    if (!request.isDone) timeOut(exchange, request, `${requestMs / 1000} s, the limit of this bus`);
  }
  exchange.sessions.sweep(now);
  for (const { links, waiting } of exchange.pools.all) {
    for (const link of links) {
      forgetLongAbandoned(exchange, link, now - Math.min(requestMs, ABANDONED_MS));
      // A worker that took a long queue of notifications does not say that it has room again.
      if (link.waiting.length > 0 || waiting.length > 0) pump(exchange, link);
    }
  }
}

/** What was given up, and still has no answer after the time, holds no place any more. */
function forgetLongAbandoned(exchange: Exchange, link: Link, before: number): void {
  const { abandoned, worker } = link;
  let count = 0;
  for (const [id, { at }] of abandoned) {
    if (at > before) break;
    forgetAbandoned(link, id);
    count += 1;
  }
  if (count === 0) return;
  exchange.log(
    'warn',
    `[worker=${worker.name}] never answered ${count} requests that were cancelled or out of time; ` +
      'a worker should answer every request, also a cancelled one',
  );
}

/** Those without a deadline of their own that began before. */
function lateRequests(exchange: Exchange, before: number): BusRequest[] {
  const late: BusRequest[] = [];
  const look = (request: BusRequest): void => {
    if (!request.stopDeadline && request.startedAt <= before) late.push(request);
  };
  for (const client of exchange.clients) {
    for (const newest of client.requests.values()) {
      for (let request: BusRequest | null = newest; request; request = request.twin) look(request);
    }
  }
  // Those under a key may have lost their client; they are on a link.
  for (const { links } of exchange.pools.all) {
    for (const { inFlight } of links) {
      for (const request of inFlight.values()) if (request.client.isGone) look(request);
    }
  }
  return late;
}
