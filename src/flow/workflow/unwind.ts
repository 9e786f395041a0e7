/**
 * How a run ends. Steps in flight get the abort signal and are waited for, up to `graceMs`; if it ended badly,
 * what was done is undone, the last done first, those included that were done while they were waited for. Each
 * is undone once; one that cannot be undone does not keep the others from it [FW8].
 */
import { runAttempt } from './attempt.ts';
import { cutMessage, type RecordedError, RunCancelledError, recordError } from './errors.ts';
import { stepName } from './journal.ts';
import { passGuard } from './pass-guard.ts';
import { checkRetry, nextDelayMs } from './retry.ts';
import type { Entry, RunState } from './seam.ts';
import type { Engine, Visit } from './visit.ts';

export interface Ending {
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly result?: unknown;
  readonly error?: RecordedError;
}

export interface UnwindOptions {
  readonly engine: Engine;
  readonly ending: Ending;
  readonly visits: ReadonlyMap<string, Visit>;
  readonly inFlight: ReadonlySet<Promise<void>>;
  readonly abort: AbortController;
  readonly code: Promise<unknown>;
  readonly graceMs: number;
  /** It was being undone before this process had it. */
  readonly isUndoing: boolean;
}

export async function unwind(options: UnwindOptions): Promise<RunState> {
  const { engine, ending, visits, inFlight, abort, code, graceMs } = options;
  const isGood = ending.state === 'completed';
  const why = isGood ? 'the run has ended' : (ending.error?.message ?? 'the run has ended');
  const reason = new RunCancelledError(why);
  abort.abort(reason);
  for (const visit of visits.values()) {
    visit.stopTimer();
    if (visit.state === 'over') continue;
    if (isAway(visit)) visit.activity.abandon?.(visit);
    if (visit.state !== 'running') visit.reject(reason);
  }
  await upTo(engine, graceMs, async () => {
    // What is done meanwhile may begin to write; it is waited for as well.
    while (inFlight.size > 0) await Promise.all(inFlight);
    if (ending.state === 'cancelled') await code;
  });
  if (isGood) {
    await engine.record(...cutOff(visits), {
      ...{ kind: 'ended', state: 'completed', result: ending.result },
    });
    return 'completed';
  }
  const { error } = ending;
  let hasUndone = options.isUndoing;
  const failures: string[] = [];
  for (let visit = lastDone(visits); visit !== undefined; visit = lastDone(visits)) {
    if (!hasUndone) await engine.record({ kind: 'compensate' });
    hasUndone = true;
    visit.isCompensated = true;
    const failure = await undo(engine, visit);
    if (failure !== null) failures.push(`${stepName(visit.step, visit.key)}: ${failure}`);
  }
  const state =
    failures.length > 0 ? 'compensation_failed' : hasUndone ? 'compensated' : ending.state;
  const notUndone = failures.length === 0 ? '' : `; not undone: ${failures.join(', ')}`;
  await engine.record(...cutOff(visits), {
    ...{ kind: 'ended', state },
    ...(error && { error: { ...error, message: cutMessage(`${error.message}${notUndone}`) } }),
  });
  return state;
}

/** It waits for something elsewhere, perhaps since another process had the run. */
function isAway({ state, record }: Visit): boolean {
  return state === 'waiting' || (state === 'asked' && record?.waiting_on != null);
}

/** The one to undo next; asked again each time, because another may have been done meanwhile. */
function lastDone(visits: ReadonlyMap<string, Visit>): Visit | undefined {
  let last: Visit | undefined;
  for (const visit of visits.values()) {
    if (visit.order === null || visit.isCompensated || !visit.activity.compensation) continue;
    if (last === undefined || visit.order > (last.order ?? 0)) last = visit;
  }
  return last;
}

/** Why it could not be undone; null when it was. */
async function undo(engine: Engine, visit: Visit): Promise<string | null> {
  const { clock } = engine;
  const compensation = visit.activity.compensation;
  if (compensation === undefined) return null;
  const policy = checkRetry(visit.step, compensation.retry);
  const never = new AbortController().signal;
  const since = clock.now();
  await engine.record({ kind: 'compensating', ...visit.ref });
  for (let attempt = 1; ; attempt++) {
    try {
      await runAttempt<void>({
        ...{ clock, limits: { timeoutMs: compensation.timeoutMs }, signal: never },
        run: async (signal, heartbeat) => {
          const key = engine.keyOf(visit, 'compensate');
          const given = { attempt, compensates: visit.result };
          await passGuard(engine, visit, given, (more) =>
            compensation.run(visit.result, { key, attempt, signal, heartbeat, ...more }),
          );
        },
      });
      await engine.record({ kind: 'compensated', ...visit.ref });
      return null;
    } catch (error) {
      const delayMs = nextDelayMs(policy, attempt, error, clock.now() - since, engine.chance());
      if (delayMs === null) {
        const recorded = recordError(error, true);
        await engine.record({ kind: 'compensation_failed', ...visit.ref, error: recorded });
        return recorded.message;
      }
      await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
    }
  }
}

/** Steps that were begun, or waited, and whose end nobody waited for. */
function cutOff(visits: ReadonlyMap<string, Visit>): Entry[] {
  return [...visits.values()]
    .filter(
      ({ state, record }) =>
        state === 'waiting' || state === 'running' || (state === 'asked' && record !== undefined),
    )
    .map(({ ref }) => ({ kind: 'cancelled', ...ref }));
}

/** Waits for it, but no longer than so long. */
async function upTo(engine: Engine, ms: number, run: () => Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = engine.clock.after(ms, late.resolve);
  await Promise.race([run().catch(() => {}), late.promise]);
  stop();
}
