import { expect, test } from 'vitest';
import { BUS_ERRORS, type BusCode, errorLine } from '../router/errors.ts';
import { errorOfWire, wireOfError } from './errors.ts';
import * as sdk from './index.ts';

const TABLE = [
  [1, 'INVALID_ARGUMENT', sdk.InvalidArgumentError],
  [2, 'INVALID_STATE', sdk.InvalidStateError],
  [3, 'TIMEOUT', sdk.TimeoutError],
  [4, 'CANCELLED', sdk.CancelledError],
  [5, 'TRANSPORT_ERROR', sdk.TransportError],
  [6, 'NEGOTIATION_FAILED', sdk.NegotiationFailedError],
  [7, 'POLICY_DENIED', sdk.PolicyDeniedError],
  [8, 'UNAVAILABLE', sdk.UnavailableError],
  [9, 'RESOURCE_EXHAUSTED', sdk.ResourceExhaustedError],
  [10, 'NOT_SUPPORTED', sdk.NotSupportedError],
  [99, 'INTERNAL', sdk.InternalError],
] as const;

test.each(TABLE)('[SD7] %i is %s, made here or come over the wire', (code, name, Class) => {
  const made = new Class('what happened', { details: { a: 1 } });
  expect(made).toBeInstanceOf(sdk.StdioBusError);
  expect(made).toMatchObject({ code, codeName: name, name: Class.name, details: { a: 1 } });
  expect(String(made)).toBe(`[${name}] what happened`);
  expect(sdk.ErrorCode[name]).toBe(code);
  const came = errorOfWire({ code, message: 'no', data: { b: 2 } });
  expect(came).toBeInstanceOf(Class);
  expect(JSON.parse(JSON.stringify(came))).toMatchObject({
    ...{ name: Class.name, code, codeName: name, message: 'no' },
    ...{ rpcCode: code, data: { b: 2 }, mayHaveRun: true },
  });
  expect(errorOfWire(wireOfError(came))).toEqual(came);
});

test('[SD7] every refusal of the bus becomes a class that fits, with what the bus said of it', () => {
  for (const code of Object.keys(BUS_ERRORS) as BusCode[]) {
    const line = errorLine('"1"', { code, message: 'm', mayHaveRun: false, detail: { pool: 'p' } });
    const error = errorOfWire(JSON.parse(line).error);
    expect(error, code).not.toBeInstanceOf(sdk.InternalError);
    expect(error).toMatchObject({
      ...{ rpcCode: BUS_ERRORS[code].rpc, mayHaveRun: false },
      isRetryable: BUS_ERRORS[code].isRetryable,
      details: { code, pool: 'p' },
    });
  }
});

test('[SD7] what may have run is never called retryable, here or on the wire; a worker’s word is believed', () => {
  for (const code of Object.keys(BUS_ERRORS) as BusCode[]) {
    const { error } = JSON.parse(errorLine('1', { code, message: 'm', mayHaveRun: true }));
    expect(error.data, code).toMatchObject({ mayHaveRun: true, retryable: false });
    // Of a bus that says both, the careful half is taken.
    const said = { ...error, data: { ...error.data, retryable: true } };
    expect(errorOfWire(said)).toMatchObject({ mayHaveRun: true, isRetryable: false });
  }
  for (const Class of [sdk.TimeoutError, sdk.TransportError]) {
    expect(new Class('m', { mayHaveRun: true }).isRetryable).toBe(false);
    expect(new Class('m').isRetryable).toBe(true);
  }
  const busy = errorOfWire({ code: 9, message: 'slow down', data: { retryable: true } });
  expect(busy).toMatchObject({ mayHaveRun: false, isRetryable: true });
});

test('[SD7] a worker’s own number is kept', () => {
  for (const rpcCode of [-32_601, -32_000, 1_234, 0]) {
    const error = errorOfWire({ code: rpcCode, message: 'm' });
    expect(error).toBeInstanceOf(sdk.InternalError);
    expect(error.rpcCode).toBe(rpcCode);
    expect(error.isRetryable).toBe(false);
  }
  for (const broken of [null, 7, 'text', {}, { code: 'x' }]) {
    expect(errorOfWire(broken)).toMatchObject({ code: 99, rpcCode: -32_603 });
  }
});
