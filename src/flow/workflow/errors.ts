/**
 * What workflows throw. A mistake in a definition is thrown where it is made, before anything runs; what
 * became of a step or a run is thrown where its result was waited for.
 */
import { isPrintable } from '../../core/law/text.ts';
import {
  ERROR_MESSAGE_CHARS_MAX,
  ERROR_NAME_CHARS_MAX,
} from '../../core/workflows/workflow-limits.ts';

/**
 * A workflow or step that cannot be as it was written: what is wrong, and what to do.
 *
 * @example
 * ```ts
 * try {
 *   workflow('ship', { nodes: [] });
 * } catch (error) {
 *   if (error instanceof DefinitionError) console.error(error.code); // 'graph.empty'
 * }
 * ```
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Thrown by a step that wants to be tried again no sooner than in a while. Any error with a number
 * `retryAfterMs` means the same.
 *
 * @example
 * ```ts
 * await ctx.step('call', async () => {
 *   const answer = await fetch(url);
 *   if (answer.status === 429) throw new RetryLaterError('too many', 5_000);
 *   return answer.json();
 * }, { retry: { attempts: 5 } });
 * ```
 */
export class RetryLaterError extends Error {
  override readonly name = 'RetryLaterError';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * How a failure stands in the journal.
 *
 * @example
 * ```ts
 * const line = ({ name, message }: RecordedError): string => `${name}: ${message}`;
 * ```
 */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly terminal: boolean;
}

/**
 * A step failed for good. It is the same after a restart, when the error that was thrown at first exists no
 * more: `cause` is there in the process alone in which the step ran.
 *
 * @example
 * ```ts
 * try {
 *   await ctx.step('charge', charge);
 * } catch (error) {
 *   if (error instanceof StepFailedError && error.error.name === 'CardBlocked') return 'declined';
 *   throw error;
 * }
 * ```
 */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
  readonly step: string;
  readonly error: RecordedError;

  constructor(step: string, error: RecordedError, cause?: unknown) {
    super(`step ${step} failed: ${error.message}`, cause === undefined ? undefined : { cause });
    this.step = step;
    this.error = error;
  }
}

/**
 * A run ended otherwise than well: `state` says how, `error` why.
 *
 * @example
 * ```ts
 * const run = await flow.start(land, { branch });
 * await run.result().catch((error) => {
 *   if (error instanceof RunFailedError && error.state === 'compensated') return retryTomorrow();
 *   throw error;
 * });
 * ```
 */
export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';
  readonly run: string;
  readonly state: string;
  readonly error: RecordedError;

  constructor(run: string, state: string, error: RecordedError) {
    super(`run ${run} is ${state}: ${error.message}`);
    this.run = run;
    this.state = state;
    this.error = error;
  }
}

/**
 * What a step is told whose run ends without it, as the reason of its abort signal.
 *
 * @example
 * ```ts
 * await ctx.step('watch', async ({ signal }) => {
 *   signal.addEventListener('abort', () => {
 *     if (signal.reason instanceof RunCancelledError) process.stderr.write(signal.reason.message);
 *   });
 * });
 * ```
 */
export class RunCancelledError extends Error {
  override readonly name = 'RunCancelledError';
}

/**
 * An attempt took too long, or was not heard of.
 *
 * @example
 * ```ts
 * const quick = { attempts: 3, when: (error: unknown) => error instanceof StepTimeoutError };
 * await ctx.step('ask', ask, { timeoutMs: 1_000, retry: quick });
 * ```
 */
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError';
}

/** A message as the hub keeps it, whatever was put before or after it. */
export function cutMessage(message: string): string {
  return message.slice(0, ERROR_MESSAGE_CHARS_MAX);
}

/** An error as the hub keeps it; bodies of errors do not belong in a journal, so it is cut. */
export function recordError(cause: unknown, terminal: boolean): RecordedError {
  if (cause instanceof StepFailedError) return { ...cause.error, terminal };
  if (isRecorded(cause)) return cause;
  const name = cause instanceof Error ? cause.name : typeof cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return {
    name: isPrintable(name, ERROR_NAME_CHARS_MAX) ? name : 'Error',
    message: cutMessage(message),
    terminal,
  };
}

/** It comes from the journal as it is. */
function isRecorded(cause: unknown): cause is RecordedError {
  const isObject = typeof cause === 'object' && cause !== null && !(cause instanceof Error);
  return isObject && 'terminal' in cause && 'message' in cause && 'name' in cause;
}
