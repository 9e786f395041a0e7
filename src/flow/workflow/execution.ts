/**
 * One run in this process, from the moment it is taken up until it ends, waits for something far away, or is
 * another's. The code is run from its first line; the journal answers what is done [FW2], and only when all of
 * it is told does anything new begin.
 */
import type { Guard } from '../../guard/guard.ts';
import { withSpan, withTrace } from '../../telemetry/scope.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Bus } from './bus-step.ts';
import { createContext } from './context.ts';
import { describeDifference, withWaysOut } from './difference.ts';
import { RunCancelledError, recordError, StepFailedError } from './errors.ts';
import type { FlowEvent } from './flow-events.ts';
import type { HubLine } from './hub-line.ts';
import {
  askedTwice,
  createJournal,
  hasOutcome,
  type Journal,
  stepId,
  stepName,
} from './journal.ts';
import { toJson } from './plain-json.ts';
import { readSteps } from './read-steps.ts';
import { createRecorder } from './recorder.ts';
import { createBell, immediate, replay } from './replay.ts';
import type { Holding, News, Resolved, StepView, Taken } from './seam.ts';
import { type Ending, unwind } from './unwind.ts';
import type { Activity, Engine, Visit } from './visit.ts';
import type { AnyWorkflow } from './workflow-types.ts';

export interface ExecutionOptions {
  readonly hub: HubLine;
  readonly workflow: AnyWorkflow;
  readonly taken: Taken;
  readonly bus: Bus | null;
  readonly guard: Guard | null;
  readonly telemetry: Telemetry | null;
  /** How long a run that only waits is kept here before it is given back. */
  lingerMs(): number;
  /** How long code that waits for a step has to ask for the next that is on record, before the run is stuck. */
  readonly replayGraceMs: number;
  chance(): number;
  tell(event: FlowEvent): void;
}

export interface Execution {
  readonly id: string;
  readonly epoch: number;
  /** What it has heard, for whoever asks for its news. */
  readonly holding: Holding;
  /** Resolves when the run is not in this process any more. Never rejects. */
  readonly over: Promise<void>;
  onNews(news: Omit<News, 'id' | 'epoch'>): void;
  /** Begins nothing more, waits so long for what is under way, and gives the run back. */
  release(graceMs: number): Promise<void>;
}

type Cut =
  | { readonly kind: 'cancel'; readonly reason: string }
  | { readonly kind: 'stuck'; readonly difference: string }
  | { readonly kind: 'fatal'; readonly error: unknown }
  | { readonly kind: 'gone' };
type End =
  | Cut
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

export function startExecution(options: ExecutionOptions): Execution {
  const { hub, workflow, taken, tell } = options;
  const { run, epoch } = taken;
  const { clock } = hub;
  const abort = new AbortController();
  const cut = Promise.withResolvers<Cut>();
  const gone = Promise.withResolvers<void>();
  const visits = new Map<string, Visit>();
  const inFlight = new Set<Promise<void>>();
  const deliveries: (() => void)[] = [];
  const endings: (() => Promise<void>)[] = [];
  let journal: Journal = createJournal([]);
  let isReplaying = true;
  let isUnwinding = false;
  let isLeaving = false;
  let isClosing = false;
  let isCodeOver = false;
  let isDelivering = false;
  let completedCount = 0;
  let news = taken.news;
  let resolved: readonly Resolved[] = taken.resolved;
  let after = taken.resolved_next ?? null;
  const visited = createBell();
  let stopLinger: (() => void) | null = null;

  const recorder = createRecorder({
    ...{ hub, clock, id: run.id, epoch },
    // What ended is told by the poll for news; that it is cancelled is known here first.
    onRecorded: ({ cancelling }) => take({ cancelling, resolved: [], news, resolved_next: after }),
    onLost: leave,
  });

  /** The run is in this process no more: nothing of it may be begun or said. */
  function leave(): void {
    if (isLeaving) return;
    isLeaving = true;
    recorder.stop();
    stopLinger?.();
    for (const visit of visits.values()) visit.stopTimer();
    cut.resolve({ kind: 'gone' });
    abort.abort(new RunCancelledError(`run ${run.id} is not in this process any more`));
    gone.resolve();
  }

  function take(answer: Omit<News, 'id' | 'epoch' | 'ok'>): void {
    news = Math.max(news, answer.news);
    after = answer.resolved_next ?? null;
    if (isLeaving || isUnwinding) return;
    // Cancelling took its gates back, and nobody goes on by that.
    if (answer.cancelling !== null) cut.resolve({ kind: 'cancel', reason: answer.cancelling });
    else if (isReplaying) resolved = [...resolved, ...answer.resolved];
    else resolveWaits(answer.resolved);
  }

  function resolveWaits(all: readonly Resolved[]): void {
    for (const one of all) {
      const visit = visits.get(stepId(one.step, one.key));
      if (visit?.state === 'waiting') visit.activity.onResolved?.(visit, one);
    }
    checkIdle();
  }

  /** To the code, one after the other, each when it has done what it can with the one before [FW2]. */
  function deliver(one: () => void): void {
    deliveries.push(one);
    if (!isDelivering) void pump();
  }

  async function pump(): Promise<void> {
    isDelivering = true;
    for (let one = deliveries.shift(); one !== undefined; one = deliveries.shift()) {
      one();
      await immediate();
    }
    isDelivering = false;
    checkIdle();
  }

  const engine: Engine = {
    ...{ hub, clock, run, signal: abort.signal, chance: options.chance },
    retry: workflow.retry,
    guard: options.guard,
    get isUnwinding() {
      return isUnwinding;
    },
    record: recorder.record,
    work(visit, work) {
      if (isLeaving || ((isUnwinding || isClosing) && visit.state !== 'running')) return;
      visit.state = 'running';
      visit.stopTimer();
      const name = stepName(visit.step, visit.key);
      const what = `${visit.activity.kind} ${visit.step}`;
      const doing = withSpan(what, { 'step.key': visit.key }, work, { ids: { step: name } })
        .catch((error: unknown) => cut.resolve({ kind: 'fatal', error }))
        .finally(() => {
          inFlight.delete(doing);
          checkIdle();
        });
      inFlight.add(doing);
      // It may have been idle until now, and about to be given back.
      checkIdle();
    },
    wait(visit, afterMs, then) {
      if (isLeaving || isUnwinding) return;
      visit.state = 'waiting';
      if (afterMs !== undefined && then !== undefined) {
        visit.stopTimer = clock.after(afterMs, () => {
          if (visit.state === 'waiting' && !isLeaving && !isUnwinding) then();
        });
      }
      checkIdle();
    },
    async complete(visit, result, { given, ...more } = {}) {
      const { kind: step_kind } = visit.activity;
      try {
        await recorder.record({ kind: 'completed', ...visit.ref, step_kind, result, ...more });
      } catch (error) {
        // The hub will not have the result: that is how the step ended.
        return engine.fail(visit, recordError(error, true), error);
      }
      finish(visit, result);
      tell({ kind: 'step.completed', run: run.id, step: stepName(visit.step, visit.key), result });
      deliver(() => visit.resolve(given === undefined ? result : given));
    },
    async fail(visit, error, cause) {
      const { kind: step_kind } = visit.activity;
      await recorder.record({ kind: 'failed', ...visit.ref, step_kind, error });
      visit.state = 'over';
      const name = stepName(visit.step, visit.key);
      tell({ kind: 'step.failed', run: run.id, step: name, error });
      deliver(() => visit.reject(new StepFailedError(name, error, cause)));
    },
    async skip(visit) {
      await recorder.record({ kind: 'skipped', ...visit.ref, step_kind: visit.activity.kind });
      visit.state = 'over';
      deliver(() => visit.resolve(undefined));
    },
    onEnd: (ending) => void endings.push(ending),
    keyOf: (visit, what) =>
      [run.id, visit.step, visit.key, what].filter((part) => part != null).join(':'),
    tell: (event) => tell({ ...event, run: run.id }),
  };

  function finish(visit: Visit, result: unknown): void {
    visit.state = 'over';
    visit.result = result;
    visit.order = ++completedCount;
  }

  /** The code asks for a step. */
  function ask(step: string, key: string | null, activity: Activity): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // Whether anybody waits for it is the code's business, and no reason for the process to end.
    promise.catch(() => {});
    const id = stepId(step, key);
    if (visits.has(id)) {
      const error = askedTwice(step, key);
      cut.resolve({ kind: 'fatal', error });
      reject(error);
      return promise;
    }
    const record = journal.find(step, key);
    const visit: Visit = {
      ...{ step, key, activity, record, resolve, reject },
      ref: key === null ? { step } : { step, key },
      ...{ state: 'asked', order: null, result: undefined, isCompensated: false },
      stopTimer: () => {},
    };
    if (record !== undefined && record.kind !== activity.kind) {
      const what = `${stepName(step, key)} is on record as ${record.kind}, and is ${activity.kind} now`;
      cut.resolve({ kind: 'stuck', difference: withWaysOut(run.id, [what]) });
      return promise;
    }
    visits.set(id, visit);
    journal.visit(step, key);
    if (isReplaying) visited.ring();
    else if (isUnwinding || isCodeOver) reject(new RunCancelledError('the run is ending'));
    else if (!isLeaving && !isClosing) activity.begin(visit);
    return promise;
  }

  /** What is on record of a step, to the code. */
  function tellRecorded(visit: Visit, record: StepView): void {
    visit.state = 'over';
    if (record.state === 'failed') {
      const error = record.error ?? { name: 'Error', message: 'unknown', terminal: true };
      visit.reject(new StepFailedError(stepName(visit.step, visit.key), error));
      return;
    }
    if (record.state === 'skipped') return visit.resolve(undefined);
    try {
      const given = visit.activity.revive?.(record.result ?? null) ?? record.result ?? null;
      finish(visit, record.result ?? null);
      visit.isCompensated = record.state !== 'completed';
      visit.resolve(given);
    } catch (error) {
      const { message } = recordError(error, true);
      const what = `the result of ${stepName(visit.step, visit.key)} on record is of another shape: ${message}`;
      cut.resolve({ kind: 'stuck', difference: withWaysOut(run.id, [what]) });
    }
  }

  /** A run that only waits is given back after a while, so that it costs nobody anything. */
  function checkIdle(): void {
    const isBusy = isReplaying || isUnwinding || isLeaving || isCodeOver || isDelivering;
    // What it waits for may be told with the next page.
    const isIdle =
      !isBusy && after === null && inFlight.size === 0 && !recorder.isBusy && hasWaiting();
    if (!isIdle) {
      stopLinger?.();
      stopLinger = null;
    } else if (stopLinger === null) {
      stopLinger = clock.after(options.lingerMs(), () => void release(0));
    }
  }

  function hasWaiting(): boolean {
    for (const { state } of visits.values()) if (state === 'waiting') return true;
    return false;
  }

  async function release(graceMs: number): Promise<void> {
    if (isLeaving) return;
    isClosing = true;
    const late = Promise.withResolvers<void>();
    const stop = clock.after(graceMs, late.resolve);
    if (graceMs > 0 && inFlight.size > 0) await Promise.race([Promise.all(inFlight), late.promise]);
    stop();
    if (isLeaving) return;
    for (const visit of visits.values()) visit.stopTimer();
    await Promise.race([recorder.record({ kind: 'released' }).catch(() => {}), gone.promise]);
    leave();
  }

  async function live(): Promise<void> {
    journal = createJournal([
      ...taken.journal,
      ...(await readSteps(hub, run.id, taken.journal_next)),
    ]);
    const ctx = createContext(engine, ask, options.bus);
    const code: Promise<End> = (async () => workflow.run(ctx, run.input))().then(
      (value) => ({ kind: 'returned', value }),
      (error: unknown) => ({ kind: 'threw', error }),
    );
    void code.then(() => {
      isCodeOver = true;
      visited.ring();
      stopLinger?.();
    });
    const replayed = replay({
      ...{ journal, visits, graceMs: options.replayGraceMs, visited, gone: gone.promise },
      isOver: () => isLeaving || isCodeOver,
      tell: tellRecorded,
    });
    const missing = await Promise.race([replayed, cut.promise.then(() => [])]);
    if (isLeaving) return;
    if (missing.length > 0) {
      const asked = [...visits.values()].filter(({ record }) => record === undefined);
      const waitedMs = isCodeOver ? null : options.replayGraceMs;
      const seen = { run: run.id, missing, asked, waitedMs };
      cut.resolve({ kind: 'stuck', difference: describeDifference(seen) });
    }
    isReplaying = false;
    const isUndoing = run.state === 'compensating';
    if (run.cancelling !== null) cut.resolve({ kind: 'cancel', reason: run.cancelling });
    else if (isUndoing && !isCodeOver) {
      cut.resolve({ kind: 'fatal', error: run.error ?? new Error('it failed') });
    } else if (!isUndoing && missing.length === 0 && !isCodeOver) beginAll();
    await end(await Promise.race([cut.promise, code]), code);
  }

  function beginAll(): void {
    for (const visit of visits.values()) {
      if (visit.state === 'asked' && !hasOutcome(visit.record)) visit.activity.begin(visit);
    }
    resolveWaits(resolved);
  }

  async function end(how: End, code: Promise<unknown>): Promise<void> {
    if (how.kind === 'gone') return;
    isUnwinding = true;
    if (how.kind === 'stuck') {
      await recorder.record({ kind: 'stuck', difference: how.difference });
      tell({ kind: 'run.stuck', run: run.id, difference: how.difference });
      return;
    }
    let ending: Ending;
    if (how.kind === 'returned') {
      try {
        ending = { state: 'completed', result: toJson(how.value, `the result of ${run.name}`) };
      } catch (error) {
        ending = { state: 'failed', error: recordError(error, true) };
      }
    } else if (how.kind === 'cancel') {
      const message = how.reason === '' ? 'the run was cancelled' : how.reason;
      ending = {
        state: 'cancelled',
        error: { name: 'RunCancelledError', message, terminal: true },
      };
    } else ending = { state: 'failed', error: recordError(how.error, true) };
    const state = await unwind({
      ...{ engine, ending, visits, inFlight, abort, code, graceMs: workflow.graceMs },
      isUndoing: run.state === 'compensating',
    });
    await Promise.allSettled(endings.map((ending) => ending()));
    tell({ kind: 'run.ended', run: run.id, state });
  }

  const { telemetry } = options;
  const ids = { workflow: run.id };
  const traced = (): Promise<void> =>
    withTrace(run.traceparent, () =>
      withSpan(`workflow ${run.name}`, { 'workflow.attempt': run.attempts }, live, { ids }),
    );
  const lived = (telemetry === null ? traced() : telemetry.within(ids, traced)).catch(
    (error: unknown) => {
      tell({ kind: 'trouble', run: run.id, error });
    },
  );
  const over = Promise.race([lived, gone.promise]).then(leave);

  return {
    ...{ id: run.id, epoch, over, release },
    get holding() {
      return { id: run.id, epoch, news, ...(after !== null && { after }) };
    },
    onNews(told) {
      if (told.ok) take(told);
      else leave();
    },
  };
}
