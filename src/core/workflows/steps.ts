/**
 * The steps of a run, known by name and key and not by their order, and the line of text that stands for them
 * while nobody holds the run. What a step may become is one table.
 */
import type { View } from '../law/view.ts';

export type StepState =
  | 'pending'
  | 'running'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'compensated'
  | 'compensation_failed';

export type StepPolicy = 'retry' | 'ask' | 'fail';

export interface Step {
  readonly step: string;
  readonly key: string | null;
  kind: string;
  state: StepState;
  attempts: number;
  startedAt: number | null;
  endedAt: number | null;
  /** Where its result, error or wait lies. */
  position: number;
  /** Which of the entries there it is. */
  entry: number;
  /** In which order it completed, failed for good or was skipped; 0: it has not. */
  order: number;
  /** Under which epoch it began last: begun under an earlier one and not ended, it may have run [WF6]. */
  epoch: number;
  policy: StepPolicy | null;
  isCompensating: boolean;
}

export type StepView = View<Step>;

/** What is said of a step, and what it is then. */
export type StepWord =
  | 'started'
  | 'completed'
  | 'failed'
  | 'waiting'
  | 'skipped'
  | 'cancelled'
  | 'compensating'
  | 'compensated'
  | 'compensation_failed';

const OPEN: readonly StepWord[] = [
  ...(['started', 'completed', 'failed', 'waiting', 'skipped', 'cancelled'] as const),
];
const UNDO: readonly StepWord[] = ['compensating', 'compensated', 'compensation_failed'];

/** From where what may be said; anything else is refused [WF5]. */
export const STEP_WORDS: Readonly<Record<StepState, readonly StepWord[]>> = {
  pending: OPEN,
  running: [...OPEN, ...UNDO],
  completed: UNDO,
  failed: UNDO,
  skipped: [],
  cancelled: UNDO,
  compensated: [],
  compensation_failed: ['compensating'],
};

/** Tells steps apart: a name has no semicolon in it. */
export function stepId(step: string, key: string | null): string {
  return key === null ? step : `${step};${key}`;
}

/** For people. */
export function stepLabel(step: string, key: string | null): string {
  return key === null ? step : `${step} ${key}`;
}

const STATES: readonly StepState[] = [
  ...(['pending', 'running', 'completed', 'failed', 'skipped', 'cancelled'] as const),
  ...(['compensated', 'compensation_failed'] as const),
];
const POLICIES: readonly (StepPolicy | null)[] = [null, 'retry', 'ask', 'fail'];
/** What parts rows and their fields. */
const RESERVED = /[%,;]/g;
const ROW_LENGTH = 12;

/** One line; times are told from `base` on, numbers in base 36. */
export function packSteps(steps: ReadonlyMap<string, StepView>, base: number): string {
  let text = '';
  for (const one of steps.values()) {
    const { step, key, kind, startedAt, endedAt } = one;
    const state = STATES.indexOf(one.state) * 2 + (one.isCompensating ? 1 : 0);
    const policy = POLICIES.indexOf(one.policy);
    if (text !== '') text += ';';
    text += `${marked(step)},${key === null ? '' : marked(key)},${kind === 'step' ? '' : marked(kind)},${packNumber(state)},${packNumber(policy)},${packNumber(one.attempts)},${packTime(startedAt, base)},${packTime(endedAt, base)},${packNumber(one.position)},${packNumber(one.entry)},${packNumber(one.order)},${packNumber(one.epoch)}`;
  }
  return text;
}

export function unpackSteps(text: string, base: number): Map<string, Step> {
  const steps = new Map<string, Step>();
  if (text === '') return steps;
  for (const row of text.split(';')) {
    const fields = row.split(',');
    if (fields.length !== ROW_LENGTH) throw new Error('a journal that cannot be read');
    const [step = '', key = '', kind = '', ...numbers] = fields;
    const [state = 0, policy = 0, attempts = 0] = numbers.slice(0, 3).map(readNumber);
    const name = unmarked(step);
    const under = key === '' ? null : unmarked(key);
    steps.set(stepId(name, under), {
      ...{ step: name, key: under, kind: kind === '' ? 'step' : unmarked(kind) },
      ...{ state: STATES[state >> 1] ?? 'pending', isCompensating: (state & 1) === 1 },
      ...{ policy: POLICIES[policy] ?? null, attempts },
      ...{ startedAt: readTime(numbers[3], base), endedAt: readTime(numbers[4], base) },
      ...{ position: readNumber(numbers[5]), entry: readNumber(numbers[6]) },
      ...{ order: readNumber(numbers[7]), epoch: readNumber(numbers[8]) },
    });
  }
  return steps;
}

function packNumber(value: number): string {
  return value === 0 ? '' : value.toString(36);
}

function packTime(at: number | null, base: number): string {
  return at === null ? '' : `${(at - base).toString(36)}`;
}

function readNumber(text: string | undefined): number {
  return text === undefined || text === '' ? 0 : Number.parseInt(text, 36);
}

function readTime(text: string | undefined, base: number): number | null {
  return text === undefined || text === '' ? null : base + Number.parseInt(text, 36);
}

function marked(text: string): string {
  return text.search(RESERVED) < 0 ? text : text.replace(RESERVED, (c) => ESCAPES[c] ?? c);
}

const ESCAPES: Readonly<Record<string, string>> = { '%': '%p', ',': '%c', ';': '%s' };
const UNESCAPES: Readonly<Record<string, string>> = { '%p': '%', '%c': ',', '%s': ';' };

function unmarked(text: string): string {
  return text.includes('%') ? text.replace(/%[pcs]/g, (c) => UNESCAPES[c] ?? c) : text;
}

/** What a step takes in memory, about: its name, its key and a row of numbers. */
export function charsOf({ step, key }: Pick<Step, 'step' | 'key'>): number {
  return step.length + (key?.length ?? 0) + 40;
}
