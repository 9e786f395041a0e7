/** What a run puts before a person [WF17]: that it is stuck, that it could not be undone, that a step asks. */
import { raiseItem, settleItem } from '../docket/docket.ts';
import type { World } from '../law/state.ts';
import type { Run } from './run-state.ts';
import { type Step, stepLabel } from './steps.ts';

/** For evolve: a step that may have run asks. */
export function askPerson(world: World, run: Run, step: Step, text: string, at: number): void {
  raiseItem(world, at, {
    ...{ kind: 'alert', agent: run.startedBy, reason: 'a step may have run', thread: null },
    subject: askedSubject(run.id, step),
    text: `${run.name} ${run.id}, step ${stepLabel(step.step, step.key)}: ${text}`,
  });
}

/** For evolve: it needs somebody to look. */
export function alertPerson(
  world: World,
  run: Run,
  at: number,
  reason: string,
  text: string,
): void {
  const subject = runSubject(run.id);
  const about = { kind: 'alert', agent: run.startedBy, thread: null, subject } as const;
  raiseItem(world, at, { ...about, reason: `a run: ${reason}`, text });
}

/** For evolve: it goes on, or is over; nobody has to look any more. */
export function settleAlert(
  world: World,
  run: Run,
  at: number,
  outcome: string,
  by: string | null,
): void {
  settleItem(world, at, 'alert', runSubject(run.id), outcome, by);
}

function runSubject(id: string): string {
  return `run ${id}`;
}

export function askedSubject(id: string, { step, key }: Pick<Step, 'step' | 'key'>): string {
  return `step ${id} ${stepLabel(step, key)}`;
}
