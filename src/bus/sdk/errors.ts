/**
 * What the SDK throws: the reference's classes with the reference's numbers. An error that came over
 * the wire keeps what the wire said, `rpcCode` and `data`, whatever class it became; and every error
 * says whether the request can have run, because only then is asking again a question.
 */
import { isObject } from '../process/json-object.ts';

export const ErrorCode = {
  INVALID_ARGUMENT: 1,
  INVALID_STATE: 2,
  TIMEOUT: 3,
  CANCELLED: 4,
  TRANSPORT_ERROR: 5,
  NEGOTIATION_FAILED: 6,
  POLICY_DENIED: 7,
  UNAVAILABLE: 8,
  RESOURCE_EXHAUSTED: 9,
  NOT_SUPPORTED: 10,
  INTERNAL: 99,
} as const;
export type ErrorCodeName = keyof typeof ErrorCode;
export type ErrorCode = (typeof ErrorCode)[ErrorCodeName];

export interface ErrorFacts {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** The number of the JSON-RPC error, when one came. */
  readonly rpcCode?: number;
  /** The `data` of the JSON-RPC error, as it came. */
  readonly data?: unknown;
  readonly mayHaveRun?: boolean;
  readonly isRetryable?: boolean;
}

const RETRYABLE: ReadonlySet<number> = new Set([
  ErrorCode.TIMEOUT,
  ErrorCode.TRANSPORT_ERROR,
  ErrorCode.RESOURCE_EXHAUSTED,
]);

export class StdioBusError extends Error {
  override name = 'StdioBusError';
  readonly code: ErrorCode;
  readonly codeName: ErrorCodeName;
  readonly details: Readonly<Record<string, unknown>>;
  readonly rpcCode: number | null;
  readonly data: unknown;
  /** A worker can have seen the request: look at what was done before you ask again. */
  readonly mayHaveRun: boolean;
  /** The same request may succeed later, and nothing of it can have run. */
  readonly isRetryable: boolean;

  constructor(codeName: ErrorCodeName, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.codeName = codeName;
    this.code = ErrorCode[codeName];
    this.details = facts.details ?? {};
    this.rpcCode = facts.rpcCode ?? null;
    this.data = facts.data;
    this.mayHaveRun = facts.mayHaveRun ?? false;
    this.isRetryable = !this.mayHaveRun && (facts.isRetryable ?? RETRYABLE.has(this.code));
  }

  override toString(): string {
    return `[${this.codeName}] ${this.message}`;
  }

  toJSON(): Record<string, unknown> {
    const { name, code, codeName, message, details, mayHaveRun, isRetryable } = this;
    return {
      ...{ name, code, codeName, message, details, mayHaveRun, isRetryable },
      ...(this.rpcCode !== null && { rpcCode: this.rpcCode }),
      ...(this.data !== undefined && { data: this.data }),
    };
  }
}

/** An option or argument that cannot be right. */
export class InvalidArgumentError extends StdioBusError {
  override name = 'InvalidArgumentError';
  constructor(message: string, facts?: ErrorFacts) {
    super('INVALID_ARGUMENT', message, facts);
  }
}

/** Not now: the bus is not running, or was started already. */
export class InvalidStateError extends StdioBusError {
  override name = 'InvalidStateError';
  constructor(message: string, facts?: ErrorFacts) {
    super('INVALID_STATE', message, facts);
  }
}

export class TimeoutError extends StdioBusError {
  override name = 'TimeoutError';
  constructor(message: string, facts?: ErrorFacts) {
    super('TIMEOUT', message, facts);
  }
}

export class CancelledError extends StdioBusError {
  override name = 'CancelledError';
  constructor(message: string, facts?: ErrorFacts) {
    super('CANCELLED', message, facts);
  }
}

/** The line to the bus broke, the bus stopped, or the worker died. */
export class TransportError extends StdioBusError {
  override name = 'TransportError';
  constructor(message: string, facts?: ErrorFacts) {
    super('TRANSPORT_ERROR', message, facts);
  }
}

export class NegotiationFailedError extends StdioBusError {
  override name = 'NegotiationFailedError';
  constructor(message: string, facts?: ErrorFacts) {
    super('NEGOTIATION_FAILED', message, facts);
  }
}

export class PolicyDeniedError extends StdioBusError {
  override name = 'PolicyDeniedError';
  constructor(message: string, facts?: ErrorFacts) {
    super('POLICY_DENIED', message, facts);
  }
}

/** Not there to do it: no worker, no engine, no bus at the address. */
export class UnavailableError extends StdioBusError {
  override name = 'UnavailableError';
  constructor(message: string, facts?: ErrorFacts) {
    super('UNAVAILABLE', message, facts);
  }
}

/** A named limit was reached. */
export class ResourceExhaustedError extends StdioBusError {
  override name = 'ResourceExhaustedError';
  constructor(message: string, facts?: ErrorFacts) {
    super('RESOURCE_EXHAUSTED', message, facts);
  }
}

export class NotSupportedError extends StdioBusError {
  override name = 'NotSupportedError';
  constructor(message: string, facts?: ErrorFacts) {
    super('NOT_SUPPORTED', message, facts);
  }
}

/** What the worker said in its own words: read `rpcCode` and `data`. */
export class InternalError extends StdioBusError {
  override name = 'InternalError';
  constructor(message: string, facts?: ErrorFacts) {
    super('INTERNAL', message, facts);
  }
}

type ErrorClass = new (message: string, facts?: ErrorFacts) => StdioBusError;

const CLASSES: Readonly<Record<ErrorCodeName, ErrorClass>> = {
  INVALID_ARGUMENT: InvalidArgumentError,
  INVALID_STATE: InvalidStateError,
  TIMEOUT: TimeoutError,
  CANCELLED: CancelledError,
  TRANSPORT_ERROR: TransportError,
  NEGOTIATION_FAILED: NegotiationFailedError,
  POLICY_DENIED: PolicyDeniedError,
  UNAVAILABLE: UnavailableError,
  RESOURCE_EXHAUSTED: ResourceExhaustedError,
  NOT_SUPPORTED: NotSupportedError,
  INTERNAL: InternalError,
};
const BY_NUMBER: ReadonlyMap<number, ErrorClass> = new Map(
  Object.entries(CLASSES).map(([name, Class]) => [ErrorCode[name as ErrorCodeName], Class]),
);

/** The refusals for which the bus uses JSON-RPC's own numbers. */
const BY_BUS_CODE: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['bus.parse', InvalidArgumentError],
  ['bus.too-large', InvalidArgumentError],
  ['bus.invalid', InvalidArgumentError],
  ['bus.method-unknown', NotSupportedError],
]);

const INTERNAL_RPC = -32_603;

/**
 * The `error` of an answer as an exception. The number chooses the class by the reference's table;
 * the JSON-RPC numbers the bus itself uses are told apart by `data.code`; everything else is a
 * worker's own and becomes `InternalError`. Nothing the wire said is lost.
 */
export function errorOfWire(error: unknown): StdioBusError {
  const { code, message, data } = isObject(error) ? error : {};
  const rpcCode = typeof code === 'number' ? code : INTERNAL_RPC;
  const said = isObject(data) ? data : {};
  const busCode = typeof said.code === 'string' ? said.code : '';
  const Chosen = BY_NUMBER.get(rpcCode) ?? BY_BUS_CODE.get(busCode) ?? InternalError;
  return new Chosen(
    typeof message === 'string' ? message : 'the answer was an error without text',
    {
      rpcCode,
      data,
      details: said,
      // Who answers without saying has at least seen the request; who says it can be asked again has
      // done nothing of it.
      mayHaveRun: typeof said.mayHaveRun === 'boolean' ? said.mayHaveRun : said.retryable !== true,
      ...(typeof said.retryable === 'boolean' && { isRetryable: said.retryable }),
    },
  );
}

/** What goes on the wire when our own side fails: a handler that threw, a function that threw. */
export function wireOfError(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof StdioBusError) {
    const { rpcCode, code, message, data, details, mayHaveRun } = error;
    return { code: rpcCode ?? code, message, data: data ?? { ...details, mayHaveRun } };
  }
  const { code, data } = isObject(error) ? error : {};
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : INTERNAL_RPC,
    message: error instanceof Error ? error.message : String(error),
    ...(data !== undefined && { data }),
  };
}
