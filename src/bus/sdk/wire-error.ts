/**
 * The `error` of an answer as an exception. The number chooses the class by the reference's table;
 * the JSON-RPC numbers the bus itself uses are told by `data.code`; everything else is a worker's
 * own and becomes `InternalError`. Nothing the wire said is lost.
 */
import {
  CancelledError,
  type ErrorFacts,
  InternalError,
  InvalidArgumentError,
  InvalidStateError,
  NegotiationFailedError,
  NotSupportedError,
  PolicyDeniedError,
  ResourceExhaustedError,
  StdioBusError,
  TimeoutError,
  TransportError,
  UnavailableError,
} from './errors.ts';
import { isRecord } from './message.ts';

type ErrorClass = new (message: string, facts?: ErrorFacts) => StdioBusError;

const BY_NUMBER: ReadonlyMap<number, ErrorClass> = new Map<number, ErrorClass>([
  [1, InvalidArgumentError],
  [2, InvalidStateError],
  [3, TimeoutError],
  [4, CancelledError],
  [5, TransportError],
  [6, NegotiationFailedError],
  [7, PolicyDeniedError],
  [8, UnavailableError],
  [9, ResourceExhaustedError],
  [10, NotSupportedError],
  [99, InternalError],
]);

/** The refusals for which the bus uses JSON-RPC's own numbers. */
const BY_BUS_CODE: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['bus.parse', InvalidArgumentError],
  ['bus.too-large', InvalidArgumentError],
  ['bus.invalid', InvalidArgumentError],
  ['bus.method-unknown', NotSupportedError],
]);

const INTERNAL_RPC = -32_603;

export function errorOfWire(error: unknown): StdioBusError {
  const { code, message, data } = isRecord(error) ? error : {};
  const rpcCode = typeof code === 'number' ? code : INTERNAL_RPC;
  const said = isRecord(data) ? data : {};
  const busCode = typeof said.code === 'string' ? said.code : '';
  const Chosen = BY_NUMBER.get(rpcCode) ?? BY_BUS_CODE.get(busCode) ?? InternalError;
  return new Chosen(
    typeof message === 'string' ? message : 'the answer was an error without text',
    {
      rpcCode,
      data,
      details: said,
      // Who answers without saying has at least seen the request.
      mayHaveRun: typeof said.mayHaveRun === 'boolean' ? said.mayHaveRun : true,
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
  const { code, data } = isRecord(error) ? error : {};
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : INTERNAL_RPC,
    message: error instanceof Error ? error.message : String(error),
    ...(data !== undefined && { data }),
  };
}
