/**
 * Starting a run. The same start again is the same run; an id in use for something else is refused with the run
 * that has it [WF1]. One that is not to be doubled is found while it is not over [WF13].
 */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { checkTrust } from '../law/writer.ts';
import { checkAgentRoom } from '../talk/agent.ts';
import { mayExecute, runFor } from './access.ts';
import { dedupKey } from './run-book.ts';
import {
  checkCount,
  checkName,
  checkRunId,
  checkStep,
  checkWhole,
  checkWord,
} from './run-check.ts';
import type { RunStarted, StartRun } from './run-events.ts';
import { findRun, isOver, type RunView } from './run-state.ts';
import {
  CHILDREN_PER_RUN_MAX,
  PRIORITY_HIGHEST,
  QUEUE_NAME_CHARS_MAX,
  RUN_KEY_CHARS_MAX,
  SLEEP_MS_MAX,
  STEP_NAME_CHARS_MAX,
  STEP_NAMES_LIST_MAX,
  VERSION_CHARS_MAX,
  WORKFLOW_NAME_CHARS_MAX,
} from './workflow-limits.ts';

export interface StartAnswer {
  readonly id: string;
  readonly isNew: boolean;
}

export function decideStart(
  world: WorldView,
  command: StartRun,
): Decision<RunStarted, StartAnswer> {
  const { by, at, name, digest, queue, key, priority, dedup, parent, delayMs } = command;
  const unfit = checkTrust(by, world.settings) ?? checkStart(world, command);
  if (unfit !== null) return unfit;
  const same = sameRun(world, command);
  if (same !== null) return same;
  const room = checkAgentRoom(world, by) ?? checkRunRoom(world, by);
  if (room !== null) return room;
  const id = command.id ?? `r${world.workflows.next}`;
  const started: RunStarted = {
    ...{ type: 'run.started', at, by: by.id, id, name, version: command.version, digest },
    ...{ queue, key, priority, notBefore: delayMs > 0 ? at + delayMs : null, dedup, parent },
    ...{ traceparent: command.traceparent, steps: command.steps },
    ...(command.input !== undefined && { input: command.input }),
  };
  return { events: [started], answer: { id, isNew: true } };
}

/** May this principal have one more run that is not over? */
export function checkRunRoom(world: WorldView, by: StartRun['by']): Refusal | null {
  const { live, countBy } = world.workflows;
  return checkShare('RUNS_MAX', by, live.size, countBy.get(by.id) ?? 0);
}

function sameRun(world: WorldView, command: StartRun): Decision<never, StartAnswer> | null {
  const { by, id, name, digest, dedup } = command;
  const book = world.workflows;
  const known = id === null ? undefined : findRun(book, id);
  if (known !== undefined) {
    const isSame = known.name === name && known.digest === digest;
    if (isSame && mayExecute(book, by, known)) {
      return { events: [], answer: { id: known.id, isNew: false } };
    }
    return refuseExists(known, mayExecute(book, by, known));
  }
  const twin = dedup === null ? undefined : book.dedups.get(dedupKey(name, dedup));
  const run = twin === undefined ? undefined : book.live.get(twin);
  if (run === undefined) return null;
  if (mayExecute(book, by, run)) return { events: [], answer: { id: run.id, isNew: false } };
  return refuseExists(run, false);
}

/** Whoever may see the run hears which it is. */
export function refuseExists(run: RunView, isShown: boolean): Refusal {
  const { id, name, state, startedBy, createdAt } = run;
  if (!isShown) {
    return refuse('workflow.exists', 'a run of another has that id or word; choose another');
  }
  return refuse(
    'workflow.exists',
    `${id} is a run of ${name} already, with another input or name (${state}); choose another id`,
    { run: { id, name, state, started_by: startedBy, created_at: createdAt / 1000 } },
  );
}

function checkStart(world: WorldView, command: StartRun): Refusal | null {
  const { by, id, name, version, queue, key, priority, delayMs, dedup, parent, steps } = command;
  const badStep = steps.find((one) => checkName('steps', one, STEP_NAME_CHARS_MAX) !== null);
  return (
    checkName('name', name, WORKFLOW_NAME_CHARS_MAX) ??
    (id === null ? null : checkRunId('id', id)) ??
    checkWord('version', version, VERSION_CHARS_MAX) ??
    (queue === null ? null : checkName('queue', queue, QUEUE_NAME_CHARS_MAX)) ??
    (queue === null || world.workflows.queues.has(queue) ? null : noQueue(queue)) ??
    checkWord('key', key, RUN_KEY_CHARS_MAX) ??
    checkWord('dedup', dedup, RUN_KEY_CHARS_MAX) ??
    checkWhole('priority', priority, -PRIORITY_HIGHEST, PRIORITY_HIGHEST) ??
    checkWhole('delay_ms', delayMs, 0, SLEEP_MS_MAX) ??
    checkCount('steps', steps.length, 0, STEP_NAMES_LIST_MAX) ??
    (badStep === undefined ? null : checkName('steps', badStep, STEP_NAME_CHARS_MAX)) ??
    (parent === null ? null : checkParent(world, by, parent))
  );
}

function checkParent(
  world: WorldView,
  by: StartRun['by'],
  parent: NonNullable<StartRun['parent']>,
): Refusal | null {
  const run = runFor(world.workflows, by, parent.id);
  if ('refused' in run) return run;
  if (isOver(run.state)) {
    return refuse('workflow.state', `${run.id} is ${run.state}: it begins no other runs`, {
      ...{ id: run.id, from: run.state },
    });
  }
  if ((world.workflows.children.get(run.id)?.size ?? 0) >= CHILDREN_PER_RUN_MAX) {
    return refuseFull('CHILDREN_PER_RUN_MAX', CHILDREN_PER_RUN_MAX);
  }
  return checkStep(parent, 'parent.step');
}

export function noQueue(queue: string): Refusal {
  return refuse(
    'workflow.no-queue',
    `there is no queue ${queue}; a person declares it with workflows.queue`,
    { queue },
  );
}
