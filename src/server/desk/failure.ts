/**
 * The one place an unexpected error comes to, whichever door or handler met it. It is written once,
 * at the level `error`, with its cause and an id, and becomes the refusal that tells the caller the
 * same id, so that a person can find the line [SV5]. The caller learns nothing of the cause.
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';

/** The answer may be ignored where nobody waits for one. */
export type ReportFailure = (what: string, cause: unknown, correlationId?: string) => Refusal;

export function createFailureReport(
  write: (line: string, cause: unknown) => void,
  newId: () => string,
): ReportFailure {
  return (what, cause, correlationId = newId()) => {
    write(`${what}: correlation_id=${correlationId}`, cause);
    return refusalOf(cause, correlationId);
  };
}

function refusalOf(cause: unknown, correlationId: string): Refusal {
  const detail = { correlation_id: correlationId };
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
  if (code === 'log.corrupt') {
    return refuse(
      'store.unavailable',
      'the log is damaged; run "synod log verify" where the hub runs, and restore it from a copy or an export',
      detail,
    );
  }
  if (String(code).startsWith('log.')) {
    // What was done before it failed is not known here, so nothing is said of it.
    const message = 'the store could not be read; try again';
    return refuse('store.unavailable', message, detail);
  }
  const message = `the hub failed at this; its log has the reason under ${correlationId}`;
  return refuse('internal', message, detail);
}
