/** A run and its steps in few words: what they stand at, what they wait for, how long they took. Pure. */
import type { CallOutput } from '../../../client/index.ts';
import type { TaskState } from './task-state.ts';

export type Run = CallOutput<'workflows.list'>['runs'][number];
export type WholeRun = CallOutput<'workflows.get'>;
export type Step = CallOutput<'workflows.steps'>['steps'][number];
type Wait = Run['waiting_on'][number];

/** Which mark stands before it; the word is its own. */
const MARKS: Readonly<Record<string, TaskState>> = {
  queued: 'open',
  pending: 'open',
  running: 'in_progress',
  waits: 'ready',
  compensating: 'in_progress',
  completed: 'done',
  skipped: 'blocked',
  cancelled: 'cancelled',
  compensated: 'cancelled',
  failed: 'needs a person',
  compensation_failed: 'needs a person',
  stuck: 'needs a person',
};

export function markOf(state: string): TaskState {
  return MARKS[state] ?? 'open';
}

/** `running` is a run that somebody works on; one that sleeps until something happens waits. */
export function runState({ state, suspended }: Pick<Run, 'state' | 'suspended'>): string {
  return state === 'running' && suspended ? 'waits' : state;
}

export function stepState(step: Pick<Step, 'state' | 'compensating' | 'waiting_on'>): string {
  if (step.compensating) return 'compensating';
  const isOpen = step.state === 'running' || step.state === 'pending';
  return isOpen && step.waiting_on !== null && !step.waiting_on.ended ? 'waits' : step.state;
}

const WORDS: Readonly<Record<string, string>> = {
  compensating: 'undoing',
  compensated: 'undone',
  compensation_failed: 'not undone',
};

export function stateWords(state: string): string {
  return WORDS[state] ?? state;
}

/** What is waited for: `a person (g3)`, `time`, `the signal reviewed`. */
export function waitText({ on }: Pick<Wait, 'on'>): string {
  const [kind = '', what] = Object.entries(on).find(([name]) => name !== 'kind') ?? [];
  const named = typeof on.kind === 'string' ? on.kind : kind;
  const word = typeof what === 'string' ? what : messageIn(what);
  switch (named.replace('_ms', '')) {
    case 'gate':
      return `a person (${word})`;
    case 'timer':
      return 'time to pass';
    case 'retry':
      return 'the next attempt';
    case 'signal':
      return `the signal ${word}`;
    case 'child':
      return `the run ${word}`;
    case 'turn':
      return `an answer to ${word}`;
    case 'collect':
      return `answers to ${word}`;
    case 'ask':
      return 'a person: it may have run';
    default:
      return named;
  }
}

function messageIn(what: unknown): string {
  const id = (what as { message_id?: unknown } | null)?.message_id;
  return typeof id === 'string' ? id : '';
}

/** The first thing a run waits for that has not come, or that nobody takes it. */
export function waitsFor(run: Pick<Run, 'waiting_on' | 'unoffered'>): string | null {
  const { waiting_on: waits, unoffered } = run;
  const [first, ...others] = waits.filter(({ ended }) => !ended);
  if (first === undefined) return unoffered == null ? null : `an executor: ${unoffered}`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${waitText(first)}${more}`;
}

/** `340 ms`, `12 s`, `4 min`. */
export function tookText(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 0.001) return 'under 1 ms';
  if (s < 1) return `${Math.round(s * 1_000)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  return s < 3_600 ? `${Math.floor(s / 60)} min` : `${(s / 3_600).toFixed(1)} h`;
}

const AGAIN: ReadonlySet<string> = new Set(['failed', 'stuck', 'cancelled', 'compensation_failed']);

export function mayGoOn({ state }: Pick<Run, 'state'>): boolean {
  return AGAIN.has(state);
}

export function mayBeCancelled({ over, cancelling }: Pick<Run, 'over' | 'cancelling'>): boolean {
  return !over && cancelling === null;
}
