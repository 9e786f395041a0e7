/**
 * Going on with a run that has failed, is stuck or could not be undone [WF15]: what is completed stays, from a
 * step on if one is named; a step that has another name now is mapped to it.
 */
import { type Decision, type Refusal, refuse } from '../law/decider.ts';
import { nearest } from '../law/nearest.ts';
import type { World, WorldView } from '../law/state.ts';
import { mine } from './control.ts';
import {
  countChars,
  dedupKey,
  packRun,
  reviveRun,
  settleRun,
  setWaits,
  stepsOf,
} from './run-book.ts';
import { checkName, checkStep, invalid } from './run-check.ts';
import { settleAlert } from './run-docket.ts';
import type { RetryRun, RunRetried } from './run-events.ts';
import type { RunState, RunView, StepRef } from './run-state.ts';
import { checkRunRoom } from './start.ts';
import { charsOf, type Step, type StepView, stepId, stepLabel, unpackSteps } from './steps.ts';
import { STEP_NAME_CHARS_MAX, STEP_NAMES_LIST_MAX } from './workflow-limits.ts';

/** What leads on from where no retry does. */
const INSTEAD: Readonly<Partial<Record<RunState, string>>> = {
  completed: 'workflows.fork begins another from one of its steps',
  compensated: 'what this one did is undone, so start it anew with workflows.start',
};

/** So many names are looked at for one that may have been meant: a run may have ten thousand steps. */
const NAMES_COMPARED = 200;

const RETRIED: readonly RunState[] = ['failed', 'stuck', 'compensation_failed', 'cancelled'];

export function decideRetry(
  world: WorldView,
  command: RetryRun,
): Decision<RunRetried, { readonly id: string }> {
  const { by, at, id, fromStep, map } = command;
  const run = mine(world, by, id);
  if ('refused' in run) return run;
  const unfit =
    checkState(run) ??
    (run.state === 'stuck' ? null : checkRunRoom(world, { ...by, id: run.startedBy })) ??
    checkTwin(world, run) ??
    checkFrom(run, fromStep) ??
    checkMap(run, map);
  if (unfit !== null) return unfit;
  const retried: RunRetried = { type: 'run.retried', at, by: by.id, id, fromStep, map };
  return { events: [retried], answer: { id } };
}

export function evolveRetried(world: World, event: RunRetried): void {
  const book = world.workflows;
  const run = book.live.get(event.id) ?? book.ended.get(event.id);
  if (run === undefined) return;
  const { at, by, fromStep, map } = event;
  settleAlert(world, run, at, 'retried', by);
  reviveRun(book, run);
  const isUndoing = run.state === 'compensation_failed';
  countChars(book, run.startedBy, -run.chars);
  const kept = keptSteps([...stepsOf(run).values()], fromStep, isUndoing);
  run.steps = new Map();
  run.chars = 0;
  for (const step of kept) {
    const named = { ...step, step: map[step.step] ?? step.step };
    run.steps.set(stepId(named.step, named.key), named);
    run.chars += charsOf(named);
  }
  run.stepCount = run.steps.size;
  countChars(book, run.startedBy, run.chars);
  packRun(run);
  run.state = isUndoing ? 'compensating' : run.epoch === 0 ? 'queued' : 'running';
  run.isCalled = true;
  run.cancelling = null;
  run.lapses = 0;
  run.endPosition = null;
  const keys = new Set(kept.map(({ step, key }) => stepId(step, key)));
  const waits = run.waits.filter((one) => keys.has(stepId(one.step, one.key)));
  setWaits(
    world,
    run,
    waits.map((one) => ({ ...one, step: map[one.step] ?? one.step })),
    at,
  );
  settleRun(world, run, at);
}

/** What has completed, before the named step if one is; and what waits, when nothing is done over. */
function keptSteps(steps: Step[], from: StepRef | null, isUndoing: boolean): Step[] {
  const named = from && steps.find(({ step, key }) => step === from.step && key === from.key);
  const before = named?.state === 'completed' ? named.order : Number.POSITIVE_INFINITY;
  return steps
    .filter((one) => {
      if (isUndoing) return true;
      if (one === named || (one.order > 0 && one.order >= before)) return false;
      return one.state === 'completed' || one.state === 'skipped' || one.state === 'pending';
    })
    .map((one) =>
      isUndoing && one.state === 'compensation_failed' ? { ...one, state: 'completed' } : one,
    );
}

function checkState({ id, state }: RunView): Refusal | null {
  if (RETRIED.includes(state)) return null;
  return refuse(
    'workflow.state',
    `${id} is ${state}: what has failed, is stuck or was cancelled is retried; ${INSTEAD[state] ?? 'wait for its end, or cancel it with workflows.cancel'}`,
    { id, from: state, to: 'running' },
  );
}

/** Another has taken its word meanwhile. */
function checkTwin(world: WorldView, { id, name, dedup }: RunView): Refusal | null {
  const twin = dedup === null ? undefined : world.workflows.dedups.get(dedupKey(name, dedup));
  if (twin === undefined || twin === id) return null;
  return refuse('workflow.exists', `${twin} runs in its place already`, { run: { id: twin } });
}

function findStep(run: RunView, { step, key }: StepRef): StepView | undefined {
  const steps = run.steps ?? unpackSteps(run.packed, run.createdAt);
  return steps.get(stepId(step, key));
}

export function noStep(run: RunView, { step, key }: StepRef): Refusal {
  const steps = [...(run.steps ?? unpackSteps(run.packed, run.createdAt)).values()];
  const isNear = (name: string): boolean => Math.abs(name.length - step.length) <= 2;
  const names = [...new Set(steps.map((one) => one.step))].filter(isNear).slice(0, NAMES_COMPARED);
  const [near] = nearest(step, names, 1);
  const perhaps = near === undefined ? '' : `, perhaps ${meant(steps, near)}`;
  return refuse(
    'workflow.no-step',
    `${run.id} has no step ${stepLabel(step, key).slice(0, 128)}${perhaps}; synod workflow show ${run.id} lists them, as workflows.steps does`,
    { id: run.id, step, key },
  );
}

/** A step by its name; one that has keys only, with the first of them. */
function meant(steps: readonly StepView[], name: string): string {
  const named = steps.filter(({ step }) => step === name);
  const plain = named.find(({ key }) => key === null) ?? named[0];
  return stepLabel(name, plain?.key ?? null);
}

function checkFrom(run: RunView, from: StepRef | null): Refusal | null {
  if (from === null) return null;
  const flaw = checkStep(from, 'from_step.step');
  if (flaw !== null) return flaw;
  return findStep(run, from) === undefined ? noStep(run, from) : null;
}

function checkMap(run: RunView, map: Readonly<Record<string, string>>): Refusal | null {
  const pairs = Object.entries(map);
  if (pairs.length === 0) return null;
  if (pairs.length > STEP_NAMES_LIST_MAX) return invalid('map', 'has too many names');
  const steps = [...unpackSteps(run.packed, run.createdAt).values()];
  const names = new Set(steps.map(({ step }) => step));
  const seen = new Set<string>();
  for (const [before, after] of pairs) {
    const flaw = checkName('map', after, STEP_NAME_CHARS_MAX);
    if (flaw !== null) return flaw;
    if (!names.has(before)) {
      return noStep(run, { step: before, key: null });
    }
  }
  for (const { step, key } of steps) {
    const id = stepId(Object.hasOwn(map, step) ? (map[step] ?? step) : step, key);
    if (seen.has(id)) return invalid('map', `makes two steps ${id.replace(';', ' ')}`);
    seen.add(id);
  }
  return null;
}
