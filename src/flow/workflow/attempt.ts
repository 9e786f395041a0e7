/**
 * One attempt of a step: its function, with a signal that is aborted when it takes too long, is not heard of,
 * or its run ends. Whoever ignores the signal is waited for no longer than the time it was given; what it
 * does afterwards is told to `onLate` and decides nothing.
 */
import type { Clock } from '../../server/run/index.ts';
import { StepTimeoutError } from './errors.ts';

export interface AttemptLimits {
  readonly timeoutMs?: number;
  readonly heartbeatMs?: number;
}

export interface Attempt<T> {
  readonly clock: Clock;
  readonly limits: AttemptLimits;
  /** Aborted when the run is cancelled or fails. */
  readonly signal: AbortSignal;
  run(signal: AbortSignal, heartbeat: () => void): Promise<T> | T;
  /** It ended after it had been given up. */
  onLate?(outcome: { readonly value: T } | { readonly error: unknown }): void;
}

export function runAttempt<T>(attempt: Attempt<T>): Promise<T> {
  const { clock, limits, signal: outer } = attempt;
  const own = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let isOver = false;
  let stopTimeout = (): void => {};
  let stopHeartbeat = (): void => {};

  const end = (settle: () => void): void => {
    isOver = true;
    stopTimeout();
    stopHeartbeat();
    outer.removeEventListener('abort', onOuter);
    settle();
  };
  const giveUp = (message: string): void => {
    if (isOver) return;
    const error = new StepTimeoutError(message);
    end(() => reject(error));
    own.abort(error);
  };
  const onOuter = (): void => own.abort(outer.reason);
  const heartbeat = (): void => {
    const { heartbeatMs } = limits;
    stopHeartbeat();
    if (isOver || heartbeatMs === undefined) return;
    stopHeartbeat = clock.after(heartbeatMs, () => giveUp(`no heartbeat for ${heartbeatMs} ms`));
  };

  if (outer.aborted) own.abort(outer.reason);
  else outer.addEventListener('abort', onOuter);
  if (limits.timeoutMs !== undefined) {
    const { timeoutMs } = limits;
    stopTimeout = clock.after(timeoutMs, () => giveUp(`it took longer than ${timeoutMs} ms`));
  }
  heartbeat();
  // A function that throws before its first await is no different from one that throws after it.
  const done = (async () => attempt.run(own.signal, heartbeat))();
  done.then(
    (value) => {
      if (isOver) attempt.onLate?.({ value });
      else end(() => resolve(value));
    },
    (error: unknown) => {
      if (isOver) attempt.onLate?.({ error });
      else end(() => reject(error));
    },
  );
  return promise;
}
