/**
 * Another run from a step of a run on [WF16]: what completed before that step is not done again, because the
 * new run points at the same results in the log.
 */
import { type Decision, refuse } from '../law/decider.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { checkTrust } from '../law/writer.ts';
import { mine } from './control.ts';
import { noStep } from './retry.ts';
import { checkRunId, checkStep, checkWord } from './run-check.ts';
import type { ForkRun, RunStarted } from './run-events.ts';
import { findRun } from './run-state.ts';
import { checkRunRoom, refuseExists, type StartAnswer } from './start.ts';
import { charsOf, packSteps, type StepView, stepId, unpackSteps } from './steps.ts';
import { VERSION_CHARS_MAX } from './workflow-limits.ts';

export function decideFork(world: WorldView, command: ForkRun): Decision<RunStarted, StartAnswer> {
  const { by, at, id, atStep, newId, input } = command;
  const run = mine(world, by, id);
  if ('refused' in run) return run;
  const unfit =
    checkTrust(by, world.settings) ??
    (newId === null ? null : checkRunId('new_id', newId)) ??
    checkWord('version', command.version, VERSION_CHARS_MAX) ??
    checkStep(atStep, 'at_step.step') ??
    checkRunRoom(world, by);
  if (unfit !== null) return unfit;
  const known = newId === null ? undefined : findRun(world.workflows, newId);
  if (known !== undefined) return refuseExists(known, true);
  const steps = run.steps ?? unpackSteps(run.packed, run.createdAt);
  const step = steps.get(stepId(atStep.step, atStep.key));
  if (step === undefined) return noStep(run, atStep);
  const before = step.state === 'completed' ? step.order : Number.POSITIVE_INFINITY;
  const done = [...steps].filter(
    ([, one]) => one.state === 'completed' && one.order > 0 && one.order < before,
  );
  if (run.state === 'compensated') {
    return refuse('workflow.state', `${id} was undone: start it anew with workflows.start`, {
      ...{ id, from: run.state, to: 'queued' },
    });
  }
  const kept = new Map(done.sort(([, a], [, b]) => a.order - b.order).map(renumbered));
  let chars = 0;
  for (const one of kept.values()) chars += charsOf(one);
  const { chars: all, charsBy } = world.workflows;
  const full = checkShare('JOURNAL_CHARS_MAX', by, all, charsBy.get(by.id) ?? 0, chars);
  if (full !== null) return full;
  const made = newId ?? `r${world.workflows.next}`;
  const { name, queue, key, priority, traceparent } = run;
  const started: RunStarted = {
    ...{ type: 'run.started', at, by: by.id, id: made, name },
    ...{ version: command.version, digest: input?.digest ?? run.digest, queue, key, priority },
    ...{ notBefore: null, dedup: null, parent: null, traceparent, steps: [] },
    fork: {
      ...{ id, step: atStep.step, inputAt: input === null ? (run.inputAt ?? run.position) : null },
      packed: packSteps(kept, at),
    },
    ...(input?.value !== undefined && { input: input.value }),
  };
  return { events: [started], answer: { id: made, isNew: true } };
}

function renumbered([id, step]: readonly [string, StepView], index: number): [string, StepView] {
  return [id, { ...step, order: index + 1, epoch: 0 }];
}
