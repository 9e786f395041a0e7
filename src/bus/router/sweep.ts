/** What time does to the bus: requests without a deadline of their own, and sessions nobody uses. */
import { cancel } from './cancel.ts';
import type { Exchange } from './exchange.ts';
import type { Ask, Link } from './state.ts';
import { pump } from './toward-worker.ts';

const SWEEP_MS_MIN = 10;
const SWEEP_MS_MAX = 5_000;
/** So long a request that was cancelled or out of time counts as work in hand. */
const ABANDONED_MS = 30_000;

/** How long until the next look: fine enough for the shortest limit, never a burden. */
export function sweepEveryMs({ limits: { requestMs, sessionIdleMs } }: Exchange): number {
  const finest = Math.min(requestMs, sessionIdleMs) / 20;
  return Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, finest));
}

export function sweep(exchange: Exchange): void {
  const now = exchange.clock.now();
  const { requestMs } = exchange.limits;
  for (const ask of lateAsks(exchange, now - requestMs)) {
    if (ask.isDone) continue;
    cancel(exchange, ask, {
      code: 'bus.timed-out',
      message: `${ask.method} had no answer after ${requestMs / 1000} s, the limit of this bus`,
      mayHaveRun: ask.link !== null,
    });
  }
  exchange.sessions.sweep(now);
  for (const { links, waiting } of exchange.pools.all) {
    for (const link of links) {
      forgetAbandoned(exchange, link, now - Math.min(requestMs, ABANDONED_MS));
      // Also a worker that took a long queue of notifications has told nobody that it has room.
      if (link.waiting.length > 0 || waiting.length > 0) pump(exchange, link);
    }
  }
}

/** What was given up, and still has no answer after the time, holds no place any more. */
function forgetAbandoned(exchange: Exchange, { abandoned, worker }: Link, before: number): void {
  let count = 0;
  for (const [id, at] of abandoned) {
    if (at > before) break;
    abandoned.delete(id);
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
function lateAsks(exchange: Exchange, before: number): Ask[] {
  const late: Ask[] = [];
  const look = (ask: Ask): void => {
    if (!ask.stopDeadline && ask.startedAt <= before) late.push(ask);
  };
  for (const client of exchange.clients) {
    for (const newest of client.asks.values()) {
      for (let ask: Ask | null = newest; ask; ask = ask.twin) look(ask);
    }
  }
  // Those under a key may have lost their client; they are on a link.
  for (const { links } of exchange.pools.all) {
    for (const { inFlight } of links) {
      for (const ask of inFlight.values()) if (ask.client.isGone) look(ask);
    }
  }
  return late;
}
