/**
 * What the client throws. A refusal of the hub keeps the hub's own code and words;
 * a failure of the connection has a code of the client. Match on `code`: codes
 * stay, messages may improve.
 */
import type { ErrorEnvelope, REFUSALS, SoxErrorCode } from '../wire/errors.ts';
import { isFields } from '../wire/fields.ts';

type RefusalCode = keyof typeof REFUSALS;

/** Codes of the client itself; everything else was said by the hub. */
export type ClientErrorCode =
  | 'client.closed'
  | 'connection.lost'
  | 'connection.refused'
  | 'request.timeout';

/** A code this client knows, or one that a newer hub made up. */
export type SynodErrorCode = ClientErrorCode | RefusalCode | (string & {});

export interface SynodErrorOptions {
  readonly soxCode?: SoxErrorCode | (string & {}) | null;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly retryAt?: number | null;
  readonly rpc?: number | null;
  readonly cause?: unknown;
}

export class SynodError extends Error {
  override readonly name = 'SynodError';
  readonly code: SynodErrorCode;
  /** The SOX error code; null when it was not the hub that spoke. */
  readonly soxCode: SoxErrorCode | (string & {}) | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Unix milliseconds before which asking again is pointless; null when the hub gave none. */
  readonly retryAt: number | null;
  /** The JSON-RPC error code; null when it was not the hub that spoke. */
  readonly rpc: number | null;

  constructor(code: SynodErrorCode, message: string, options: SynodErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.soxCode = options.soxCode ?? null;
    this.detail = options.detail ?? {};
    this.retryAt = options.retryAt ?? null;
    this.rpc = options.rpc ?? null;
  }
}

/** The `error` member of a JSON-RPC answer, as far as it can be believed. */
export interface RpcError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
}

export function refusalOf(error: RpcError): SynodError {
  const rpc = typeof error.code === 'number' ? error.code : null;
  return envelopeError(error.data, rpc, String(error.message ?? 'the hub gave no reason'));
}

/** A SOX error envelope, from whatever door, as something to throw. */
export function envelopeError(data: unknown, rpc: number | null, fallback: string): SynodError {
  const envelope = isFields(data) ? (data as Partial<ErrorEnvelope>) : {};
  const detail = isFields(envelope.detail) ? envelope.detail : {};
  const soxCode = typeof envelope.error_code === 'string' ? envelope.error_code : null;
  const reason = typeof detail.reason === 'string' ? detail.reason : null;
  return new SynodError(reason ?? soxCode ?? codeOfRpc(rpc), envelope.message ?? fallback, {
    soxCode,
    detail,
    rpc,
    retryAt: typeof envelope.retry_after === 'number' ? envelope.retry_after * 1000 : null,
  });
}

/** True when the same question may be answered differently a moment later. */
export function isPassing(error: SynodError): boolean {
  return (
    error.soxCode === 'rate_limited' ||
    error.soxCode === 'store_unavailable' ||
    error.code === 'request.timeout' ||
    error.code === 'connection.lost'
  );
}

function codeOfRpc(rpc: number | null): RefusalCode {
  if (rpc === -32_601) return 'operation.unknown';
  if (rpc === -32_602) return 'input.invalid';
  if (rpc === -32_700) return 'input.not-json';
  return 'internal';
}
