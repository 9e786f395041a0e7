/** What one request may say beside its method and params, checked before anything is sent. */

import type { JsonObject } from '../process/json-object.ts';
import { InvalidArgumentError, NegotiationFailedError } from './errors.ts';
import type { AuditEvent, CallerIdentity } from './message.ts';
import type { SessionChoice } from './session-book.ts';

export interface RequestOptions extends SessionChoice {
  /** The whole time the request may take. The bus keeps it too when it is given here. */
  readonly timeoutMs?: number;
  readonly identity?: CallerIdentity;
  readonly audit?: AuditEvent;
  /** The same key within the bus's memory gets the same answer, and the work is done once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** The trace that the request belongs to, as W3C Trace Context writes it; a worker finds it in `_ext`. */
  readonly traceparent?: string | null;
  /** Extensions that `hello` must have found active. */
  readonly requiredExtensions?: readonly string[];
}

export type NotifyOptions = Omit<
  RequestOptions,
  'timeoutMs' | 'idempotencyKey' | 'signal' | 'requiredExtensions'
>;

/** As long as a timer can be; above it there is no deadline. */
const TIMER_MS_MAX = 2_147_483_647;

export function checkTimeout(name: string, timeoutMs: number): number {
  if (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs) || timeoutMs <= 0) {
    throw new InvalidArgumentError(
      `${name} is ${String(timeoutMs)}; use milliseconds above 0, or Infinity for no deadline`,
    );
  }
  return timeoutMs > TIMER_MS_MAX ? Number.POSITIVE_INFINITY : timeoutMs;
}

export function checkMethod(method: string): void {
  if (typeof method !== 'string' || method === '') {
    throw new InvalidArgumentError('the method must be a text that is not empty');
  }
}

export function checkExtensions(
  required: readonly string[] | undefined,
  active: ReadonlySet<string>,
): void {
  const missing = (required ?? []).filter((name) => !active.has(name));
  if (missing.length === 0) return;
  throw new NegotiationFailedError(
    `the request requires ${missing.join(', ')}, which hello did not find active; nothing was sent`,
    { details: { missing } },
  );
}

/** `isOneCall`: its session is of this call alone, so that a repeat of its key comes in another. */
export function extOf(options: RequestOptions, isOneCall: boolean): JsonObject {
  const { identity, audit, idempotencyKey, timeoutMs, traceparent } = options;
  return {
    ...(identity !== undefined && { identity: { assertedBy: 'self', ...identity } }),
    ...(audit !== undefined && { audit }),
    ...(traceparent != null && { traceparent }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(idempotencyKey !== undefined && isOneCall && { idempotencyScope: 'pool' }),
    // The bus counts whole milliseconds from 1 on.
    ...(timeoutMs !== undefined &&
      timeoutMs <= TIMER_MS_MAX && { timeoutMs: Math.max(1, Math.ceil(timeoutMs)) }),
  };
}
