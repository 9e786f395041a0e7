/**
 * So many requests a second from one remote address, with two seconds' worth of
 * burst [HL1]: HTTP requests, upgrades and WebSocket frames all count, loopback
 * included. The Unix socket has no address and no limit: who reaches it owns the
 * hub. Off unless configured.
 */
import type { ServerResponse } from 'node:http';
import type { Refusal } from '../../core/law/decider.ts';
import { REFUSALS, toEnvelope } from '../../wire/errors.ts';
import { createRateLimit } from '../desk/rate-limit.ts';

const BURST_SECONDS = 2;

export interface HostLimit {
  /** Counts one; a refusal says when to come again. */
  check(address: string | undefined): Refusal | null;
}

export function createHostLimit(perSecond: number | null, now: () => number = Date.now): HostLimit {
  if (perSecond === null) return { check: () => null };
  const limit = createRateLimit(perSecond, now, {
    burstSeconds: BURST_SECONDS,
    what: 'requests from one host',
  });
  return {
    // A dual-stack socket writes one and the same host in two ways.
    check: (address) =>
      address === undefined ? null : limit.check(address.replace(/^::ffff:(?=\d+\.)/, '')),
  };
}

/** The refusal as an HTTP answer, before any route has looked at the request. */
export function replyLimited(response: ServerResponse, refusal: Refusal): void {
  const waitMs = (refusal.retryAt ?? Date.now()) - Date.now();
  response.writeHead(REFUSALS[refusal.refused].http, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))),
  });
  response.end(JSON.stringify(toEnvelope(refusal)));
}
