/**
 * A step: a function with effects, tried as its policy says. Its outcome is on record before the code sees it.
 * One that may have run already, because its process died, goes by `uncertain` [FW4].
 */
import { runAttempt } from './attempt.ts';
import { recordError, StepTimeoutError } from './errors.ts';
import { stepName } from './journal.ts';
import { passGuard } from './pass-guard.ts';
import { toJson } from './plain-json.ts';
import { checkRetry, isTerminal, nextDelayMs } from './retry.ts';
import type { Entry, WaitView } from './seam.ts';
import { createBill } from './step-cost.ts';
import type { StepOptions, StepScope, UndoScope } from './step-options.ts';
import type { Activity, Engine, Visit } from './visit.ts';

/** A step that runs longer than this is shown as running. */
const SHOWN_AFTER_MS = 250;

/** An undoing that never ends would keep the run from its end. */
const COMPENSATE_TIMEOUT_MS = 600_000;

export function createStep<T>(
  engine: Engine,
  kind: string,
  whose: string,
  run: (scope: StepScope) => Promise<T> | T,
  options: StepOptions<T>,
  /** What rails are shown beside the step's name. */
  given: object = {},
): Activity {
  const retry = checkRetry(whose, options.retry ?? engine.retry);
  const { uncertain = 'retry', schema, compensate } = options;
  const undo = checkRetry(whose, options.compensateRetry ?? { attempts: 5 });

  const bill = createBill(whose);

  function revive(result: unknown): unknown {
    return schema === undefined ? result : schema.parse(result);
  }

  function remainingMs(begunAt: number): number | undefined {
    const { deadlineMs } = options;
    return deadlineMs === undefined ? undefined : begunAt + deadlineMs - engine.clock.now();
  }

  function attemptOne(visit: Visit, attempt: number, firstAt: number): void {
    engine.work(visit, async () => {
      const begunAt = engine.clock.now();
      const leftMs = remainingMs(firstAt);
      if (leftMs !== undefined && leftMs <= 0) {
        const late = new StepTimeoutError(`it was not done within ${options.deadlineMs} ms`);
        return engine.fail(visit, recordError(late, true), late);
      }
      const started: Entry = {
        ...visit.ref,
        ...{ kind: 'started' as const, step_kind: kind, policy: uncertain },
      };
      let stopShowing = (): void => {};
      // Where it matters whether it ran, that it may have is on record first.
      if (uncertain !== 'retry') await engine.record(started);
      else {
        stopShowing = engine.clock.after(SHOWN_AFTER_MS, () => {
          engine.record(started).catch(() => {});
        });
      }
      let value: unknown;
      try {
        const done = await runAttempt<T>({
          clock: engine.clock,
          signal: engine.signal,
          limits: {
            ...limitsOf(options.timeoutMs, leftMs),
            ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
          },
          run: (signal, heartbeat) => {
            const key = engine.keyOf(visit);
            const scope = { key, attempt, signal, heartbeat, cost: bill.add };
            return passGuard(engine, visit, { attempt, ...given }, (more) =>
              run({ ...scope, ...more }),
            );
          },
        });
        stopShowing();
        value = toJson(revive(done), `the result of ${stepName(visit.step, visit.key)}`);
      } catch (error) {
        stopShowing();
        return onError(visit, attempt, firstAt, error);
      }
      const took_ms = Math.max(0, Math.round(engine.clock.now() - begunAt));
      const cost = bill.total;
      await engine.complete(visit, value, { took_ms, ...(cost && { cost }) });
    });
  }

  async function onError(
    visit: Visit,
    attempt: number,
    firstAt: number,
    error: unknown,
  ): Promise<void> {
    // The run is ending: what is cut off now is no failure of the step.
    if (engine.isUnwinding) {
      visit.reject(error);
      return;
    }
    const sinceMs = engine.clock.now() - firstAt;
    const delayMs = nextDelayMs(retry, attempt, error, sinceMs, engine.chance());
    const leftMs = remainingMs(firstAt);
    if (delayMs === null || (leftMs !== undefined && delayMs >= leftMs)) {
      const isLast = isTerminal(error, retry);
      return engine.fail(visit, recordError(error, isLast), error);
    }
    engine.tell({ kind: 'step.retry', step: stepName(visit.step, visit.key), error });
    await engine.record({
      ...{ kind: 'failed', ...visit.ref, step_kind: kind, retry_ms: delayMs },
      error: recordError(error, false),
    });
    engine.wait(visit, delayMs, () => attemptOne(visit, attempt + 1, firstAt));
  }

  function goOn(visit: Visit): void {
    const { record } = visit;
    const firstAt =
      (record?.started_at ?? null) === null ? engine.clock.now() : (record?.started_at ?? 0) * 1000;
    attemptOne(visit, (record?.attempts ?? 0) + 1, firstAt);
  }

  function failUncertain(visit: Visit): void {
    const error = {
      name: 'UncertainError',
      message: 'the process died while it ran, and nobody knows whether it was done',
      terminal: true,
    };
    engine.work(visit, () => engine.fail(visit, error, undefined));
  }

  return {
    kind,
    revive,
    ...(compensate && {
      compensation: {
        retry: undo,
        timeoutMs: options.compensateTimeoutMs ?? COMPENSATE_TIMEOUT_MS,
        run: (result: unknown, scope: UndoScope) => compensate(result as T, scope),
      },
    }),
    begin(visit) {
      const { record } = visit;
      if (record === undefined) return goOn(visit);
      if (isAsking(record.waiting_on)) return engine.wait(visit);
      if (record.uncertain || record.state === 'running') {
        if (uncertain === 'fail') return failUncertain(visit);
        if (uncertain === 'ask') {
          return engine.work(visit, async () => {
            const ask = `may ${stepName(visit.step, visit.key)} of ${engine.run.id} be done again? Its process died, and it may have been done`;
            await engine.record({ kind: 'waiting', ...visit.ref, step_kind: kind, on: { ask } });
            engine.wait(visit);
          });
        }
      }
      const dueMs = retryDueMs(record.waiting_on, engine.clock.now());
      if (dueMs > 0) engine.wait(visit, dueMs, () => goOn(visit));
      else goOn(visit);
    },
    onResolved(visit, resolved) {
      if (resolved.by === 'answer' && resolved.answer === 'fail') failUncertain(visit);
      // A retry that is due is begun by our own timer; after a restart there is none.
      else if (resolved.by === 'answer') goOn(visit);
    },
  };
}

function isAsking(wait: WaitView | null): boolean {
  return wait?.on.kind === 'answer';
}

/** How long a recorded retry still has to wait. */
function retryDueMs(wait: WaitView | null, now: number): number {
  return wait?.until == null || wait.ended ? 0 : wait.until * 1000 - now;
}

function limitsOf(timeoutMs?: number, leftMs?: number): { readonly timeoutMs?: number } {
  const least = Math.min(timeoutMs ?? Infinity, leftMs ?? Infinity);
  return Number.isFinite(least) ? { timeoutMs: least } : {};
}
