/**
 * How the bus says no on the wire. The number is the reference's error number, so that its SDKs
 * raise the class they know; `data.code` says which of our reasons it was, `data.mayHaveRun` whether
 * a worker can have seen the request, and `data.remedy` what to do.
 */
import { type ByteLine, messageOf } from '../process/byte-line.ts';

export type BusCode =
  | 'bus.parse'
  | 'bus.too-large'
  | 'bus.invalid'
  | 'bus.method-unknown'
  | 'bus.pool-unknown'
  | 'bus.contradiction'
  | 'bus.session-unknown'
  | 'bus.no-worker'
  | 'bus.worker-died'
  | 'bus.queue-full'
  | 'bus.timed-out'
  | 'bus.cancelled'
  | 'bus.draining'
  | 'bus.policy'
  | 'bus.key-reused'
  | 'bus.negotiation'
  | 'bus.no-client';

interface Row {
  /** JSON-RPC's own numbers where it has one, the reference's elsewhere. */
  readonly rpc: number;
  readonly isRetryable: boolean;
  readonly remedy: string;
}

export const BUS_ERRORS: Readonly<Record<BusCode, Row>> = {
  'bus.parse': { rpc: -32_700, isRetryable: false, remedy: 'send one JSON object or array a line' },
  'bus.too-large': {
    rpc: -32_600,
    isRetryable: false,
    remedy: 'send less at once, or raise limits.max_input_buffer',
  },
  'bus.invalid': {
    rpc: -32_600,
    isRetryable: false,
    remedy: 'send a JSON-RPC 2.0 request, notification or response',
  },
  'bus.method-unknown': {
    rpc: -32_601,
    isRetryable: false,
    remedy: 'methods that begin with stdio_bus/ are answered by the bus; use one it has',
  },
  'bus.pool-unknown': { rpc: 1, isRetryable: false, remedy: 'name a pool of the config' },
  'bus.contradiction': {
    rpc: 1,
    isRetryable: false,
    remedy: 'name either the pool or the agent, or list the agent in that pool',
  },
  'bus.session-unknown': {
    rpc: 1,
    isRetryable: false,
    remedy: 'use the session once, then attach',
  },
  'bus.no-worker': {
    rpc: 8,
    isRetryable: true,
    remedy: "see why the pool's workers are down, mend it and reload the config",
  },
  'bus.worker-died': {
    rpc: 5,
    isRetryable: true,
    remedy: 'when mayHaveRun is true, check what was done before you ask again',
  },
  'bus.queue-full': {
    rpc: 9,
    isRetryable: true,
    remedy: 'wait for answers before you send more, or add instances',
  },
  'bus.timed-out': { rpc: 3, isRetryable: true, remedy: 'allow more time, or look at the worker' },
  'bus.cancelled': { rpc: 4, isRetryable: false, remedy: 'nothing: you asked for it' },
  'bus.draining': { rpc: 2, isRetryable: true, remedy: 'connect again when the bus is back' },
  'bus.policy': { rpc: 7, isRetryable: false, remedy: 'ask whoever wrote the policy of this bus' },
  'bus.key-reused': {
    rpc: 1,
    isRetryable: false,
    remedy: 'use an idempotency key for one request only',
  },
  'bus.negotiation': {
    rpc: 6,
    isRetryable: false,
    remedy: 'ask only for what the bus offers, or mark the extension as not required',
  },
  'bus.no-client': {
    rpc: 8,
    isRetryable: true,
    remedy: 'nobody is attached to the session: treat the question as refused',
  },
};

export interface BusProblem {
  readonly code: BusCode;
  /** What happened, to what. */
  readonly message: string;
  /** A worker can have seen the request; false when it is not said. */
  readonly mayHaveRun?: boolean;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export const problem = (code: BusCode, message: string): BusProblem => ({ code, message });

/** A message that is not as it must be; the remedy says what of it. */
export const invalid = (message: string, remedy: string): BusProblem => ({
  code: 'bus.invalid',
  message,
  detail: { remedy },
});

export const isProblem = (value: object): value is BusProblem => 'code' in value;

/** An error answer; `id` is the raw JSON of the request's id. */
export function errorLine(id: string, why: BusProblem): ByteLine {
  const { code, message, mayHaveRun = false, detail } = why;
  const { rpc, isRetryable, remedy } = BUS_ERRORS[code];
  const data = { code, mayHaveRun, retryable: isRetryable && !mayHaveRun, remedy, ...detail };
  const error = messageOf({ code: rpc, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}` as ByteLine;
}
