/**
 * What is on record of a run when it is taken up, and what of it the code has asked for again. Outcomes are
 * handed to the code in the order in which they came the first time, each when the code has done all it can
 * with the ones before: so races, loops and conditions go the way they went [FW2].
 */
import { DefinitionError } from './errors.ts';
import type { StepView } from './seam.ts';

export function stepId(step: string, key: string | null | undefined): string {
  return key == null ? step : `${step}\0${key}`;
}

/** As it is shown to people. */
export function stepName(step: string, key: string | null | undefined): string {
  return key == null ? step : `${step} [${key}]`;
}

export interface Journal {
  find(step: string, key: string | null): StepView | undefined;
  /** The code asks for it. */
  visit(step: string, key: string | null): void;
  /** The outcome that the code is to be told next, of those that it has asked for; undefined: none of them. */
  next(hasAsked: (record: StepView) => boolean): StepView | undefined;
  /** It was told. */
  advance(record: StepView): void;
  /** All that came is told. */
  readonly isTold: boolean;
  /** What is on record and was not asked for. */
  unvisited(): StepView[];
}

/** States in which a step has an outcome that the code was told. */
const OUTCOMES: ReadonlySet<string> = new Set([
  ...['completed', 'failed', 'skipped', 'compensated', 'compensation_failed'],
]);

export function hasOutcome(record: StepView | undefined): record is StepView {
  return record !== undefined && OUTCOMES.has(record.state) && !record.uncertain;
}

export function createJournal(records: readonly StepView[]): Journal {
  const byId = new Map(records.map((record) => [stepId(record.step, record.key), record]));
  const unvisited = new Set(byId.keys());
  const outcomes = inOrder(records.filter(hasOutcome));
  return {
    find: (step, key) => byId.get(stepId(step, key)),
    visit: (step, key) => void unvisited.delete(stepId(step, key)),
    next(hasAsked) {
      const [first] = outcomes;
      if (first === undefined || hasAsked(first)) return first;
      // Failures came at a time and not at a place: what stands before them may have come after.
      return outcomes.find((one) => one.order === null && hasAsked(one));
    },
    advance: (record) => void outcomes.splice(outcomes.indexOf(record), 1),
    get isTold() {
      return outcomes.length === 0;
    },
    unvisited: () => [...unvisited].flatMap((id) => byId.get(id) ?? []),
  };
}

/** Completions by their number; what has none, by its time among them. */
function inOrder(outcomes: readonly StepView[]): StepView[] {
  const placed = outcomes.filter(({ order }) => order !== null);
  placed.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const others = outcomes.filter(({ order }) => order === null);
  others.sort((a, b) => (a.ended_at ?? 0) - (b.ended_at ?? 0));
  for (const one of others) {
    const at = placed.findLastIndex((each) => isBefore(each, one));
    placed.splice(at + 1, 0, one);
  }
  return placed;
}

/** Of one that was undone, the time is that of the undoing. */
function isBefore(one: StepView, other: StepView): boolean {
  return one.state !== 'completed' || (one.ended_at ?? 0) <= (other.ended_at ?? 0);
}

export function askedTwice(step: string, key: string | null): DefinitionError {
  const name = stepName(step, key);
  return new DefinitionError(
    'step.twice',
    key === null
      ? `${name} is asked for twice in one run; give each a key, ctx.step('${step}', …, { key })`
      : `${name} is asked for twice in one run; give each a key of its own`,
  );
}
