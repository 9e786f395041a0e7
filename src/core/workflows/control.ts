/**
 * What others do to a run: signal it, cancel it, answer for it. A signal that nobody waits for yet is kept, so
 * many at most [WF10]; cancelling reaches the children too, and lets the executor undo what was done [WF14].
 */
import type { EndEvent } from '../gates/gate-end.ts';
import type { GateView } from '../gates/gate-state.ts';
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { isLine } from '../law/text.ts';
import { checkWriter } from '../law/writer.ts';
import { noRun, runFor } from './access.ts';
import { checkName, checkStep, invalid, refuseArrow } from './run-check.ts';
import type {
  AnswerRun,
  CancelRun,
  RunAnswered,
  RunCancelled,
  RunSignalled,
  SignalRun,
} from './run-events.ts';
import { gatesLeft } from './run-gates.ts';
import { isHeld, isOver, type RunView, type WorkflowView } from './run-state.ts';
import { unpackSteps } from './steps.ts';
import {
  FAMILY_AT_ONCE_MAX,
  RUN_REASON_CHARS_MAX,
  SIGNAL_NAME_CHARS_MAX,
  SIGNALS_PER_RUN_MAX,
  SIGNALS_PER_SENDER_MAX,
} from './workflow-limits.ts';

export function decideSignal(
  world: WorldView,
  command: SignalRun,
): Decision<RunSignalled, { readonly isKept: boolean }> {
  const { by, at, id, name, value } = command;
  const unfit = checkWriter(by, world.settings) ?? checkName('name', name, SIGNAL_NAME_CHARS_MAX);
  if (unfit !== null) return unfit;
  // Whoever knows the id may signal: what it says is handed over with its name.
  const run = world.workflows.live.get(id);
  if (run === undefined) {
    const over = runFor(world.workflows, by, id);
    return 'refused' in over ? over : refuseArrow(id, over.state, 'signalled');
  }
  const isAwaited = run.waits.some(
    ({ on, ended }) => ended === null && on.kind === 'signal' && on.signal === name,
  );
  if (!isAwaited) {
    const mine = run.signals.filter((one) => one.by === by.id).length;
    if (mine >= SIGNALS_PER_SENDER_MAX) {
      return refuseFull('SIGNALS_PER_SENDER_MAX', SIGNALS_PER_SENDER_MAX);
    }
    if (run.signals.length >= SIGNALS_PER_RUN_MAX) {
      return refuseFull('SIGNALS_PER_RUN_MAX', SIGNALS_PER_RUN_MAX);
    }
  }
  const signalled: RunSignalled = {
    ...{ type: 'run.signalled', at, by: by.id, id, name },
    ...(value !== undefined && { value }),
  };
  return { events: [signalled], answer: { isKept: !isAwaited } };
}

export function decideCancel(
  world: WorldView,
  command: CancelRun,
): Decision<RunCancelled | EndEvent, { readonly id: string }> {
  const { by, at, id, reason, isForced } = command;
  const run = mine(world, by, id);
  if ('refused' in run) return run;
  if (reason !== null && !isLine(reason, RUN_REASON_CHARS_MAX)) {
    return invalid('reason', `is one line of at most ${RUN_REASON_CHARS_MAX} characters`);
  }
  if (run.state === 'cancelled') return { events: [], answer: { id } };
  if (isOver(run.state)) return refuseArrow(id, run.state, 'cancelled');
  const runs = family(world.workflows, run).filter(
    ({ cancelling, state }) => cancelling === null || state === 'stuck' || isForced,
  );
  const events = runs.map(
    (one): RunCancelled => ({
      ...{ type: 'run.cancelled', at, by: by.id, id: one.id, reason },
      isOver: isForced || isUndone(one),
    }),
  );
  const withdrawn = gatesLeft(world, runs, at, 'its run was cancelled');
  return { events: [...events, ...withdrawn], answer: { id } };
}

/** Everything of a starter that is forgotten: nobody is left to undo anything. */
export function abandonedRuns(
  world: WorldView,
  agent: string,
  by: string,
  at: number,
): (RunCancelled | EndEvent)[] {
  const reason = `${agent} was removed`;
  if (!world.workflows.countBy.has(agent)) return [];
  const runs = [...world.workflows.live.values()].filter(({ startedBy }) => startedBy === agent);
  const cancelled = runs.map(
    ({ id }): RunCancelled => ({ type: 'run.cancelled', at, by, id, reason, isOver: true }),
  );
  // What the agent asked itself goes with the agent.
  const isGate = (gate: GateView): boolean => gate.asker !== agent;
  return [...cancelled, ...gatesLeft(world, runs, at, reason, { isGate })];
}

/** The run, its children, and theirs: so many at once. */
function family(book: WorkflowView, run: RunView): RunView[] {
  const found = new Map<string, RunView>([[run.id, run]]);
  for (const one of found.values()) {
    for (const id of book.children.get(one.id) ?? []) {
      const child = book.live.get(id);
      if (child !== undefined && found.size < FAMILY_AT_ONCE_MAX) found.set(id, child);
    }
  }
  return [...found.values()];
}

/** Nothing of it was done that could be undone, and nobody is at it. */
function isUndone(run: RunView): boolean {
  if (isHeld(run)) return false;
  const steps = unpackSteps(run.packed, run.createdAt);
  return [...steps.values()].every(({ state }) => state === 'pending' || state === 'skipped');
}

export function decideAnswer(
  world: WorldView,
  command: AnswerRun,
): Decision<RunAnswered, { readonly id: string }> {
  const { by, at, id, asked: ref, answer } = command;
  const run = mine(world, by, id);
  if ('refused' in run) return run;
  const flaw = checkStep(ref);
  if (flaw !== null) return flaw;
  const { step, key } = ref;
  const wait = run.waits.find(
    (one) => one.on.kind === 'answer' && one.ended === null && one.step === step && one.key === key,
  );
  if (wait === undefined) {
    return refuse('workflow.not-asked', `${id} asks nobody about step ${step}`, { id, step, key });
  }
  const said = { id, step, key, answer };
  return { events: [{ type: 'run.answered', at, by: by.id, ...said }], answer: { id } };
}

/** For who may stop and steer it. */
export function mine(world: WorldView, by: Principal, id: string): RunView | Refusal {
  if (by.kind === 'observer') return noRun(id);
  return runFor(world.workflows, by, id);
}
