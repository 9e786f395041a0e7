/**
 * A request ends before its worker is done: its client took it back, its time is up, or its client is
 * gone. It is answered at once; what no worker has yet never runs; a worker that may have it is told
 * [BU13].
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { type Envelope, readParams, scan } from '../process/scan-message.ts';
import type { BusProblem } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { abandon, dismiss, failed } from './request.ts';
import type { BusRequest } from './state.ts';
import { pump, tellCancelled } from './to-worker.ts';

const CANCEL = '$/cancelRequest';
/** LSP's name, ACP's and MCP's. */
const CANCELS: ReadonlySet<string> = new Set([
  CANCEL,
  '$/cancel_request',
  'notifications/cancelled',
]);

export const isCancel = (method: string): boolean => CANCELS.has(method);

/**
 * Which requests the params of a cancel name: the id as it was written there, for a number read and
 * written again may be another text, and as JSON.stringify writes it, in case the two differ.
 */
export function idsNamed(envelope: Envelope): Set<string> {
  const params = readParams(envelope);
  if (typeof params !== 'object' || params === null) return new Set();
  const { id, requestId } = params as { id?: unknown; requestId?: unknown };
  const value = id ?? requestId ?? null;
  const written = scan(envelope.line.slice(envelope.paramsStart, envelope.paramsEnd) as ByteLine);
  const raw = 'id' in written && id !== undefined ? written.id : null;
  const plain = messageOf(value);
  return new Set(raw === null ? [plain] : [raw, plain]);
}

export function cancel(
  exchange: Exchange,
  request: BusRequest,
  why: BusProblem,
  method: string = CANCEL,
): void {
  if (handOn(request)) {
    failed(exchange, request, why);
    return;
  }
  const { link } = request;
  if (abandon(exchange, request) && link) tellCancelled(exchange, request, link, method);
  failed(exchange, request, why);
  if (link) pump(exchange, link);
}

/** The client is gone: nobody wants the answer, unless it is kept under a key. */
export function orphan(exchange: Exchange, request: BusRequest): void {
  const { kept, link } = request;
  if (kept && !kept.waiting.delete(request)) {
    // For a client that repeats the request, or waits for it already.
    if (link || kept.waiting.size > 0) return;
    exchange.keys.forget(kept);
  }
  if (abandon(exchange, request) && link) tellCancelled(exchange, request, link, CANCEL);
  dismiss(exchange, request, 'client gone');
  if (link) pump(exchange, link);
}

/** Under a key others may wait for the same answer: one of them takes its place, and it goes on. */
function handOn(request: BusRequest): boolean {
  const { kept, link, item } = request;
  if (!kept || kept.waiting.has(request)) return false;
  const [heir] = kept.waiting;
  if (!heir) return false;
  kept.waiting.delete(heir);
  const { wireId } = heir;
  heir.wireId = request.wireId;
  heir.link = link;
  heir.share = request.share;
  heir.sequence = request.sequence;
  heir.item = item;
  heir.queue = request.queue;
  if (item) item.request = heir;
  link?.inFlight.set(heir.wireId, heir);
  request.wireId = wireId;
  request.link = null;
  request.share = null;
  request.item = null;
  request.queue = null;
  request.kept = null;
  return true;
}
