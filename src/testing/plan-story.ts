/**
 * A story told to the plan alone: commands are decided against a book and their
 * events evolve it. Time stands still until it is moved.
 */
import { type Decision, isRefusal, type Refusal } from '../core/law/decider.ts';
import type { Principal } from '../core/law/principal.ts';
import { createPlan, type PlanBook, type ProgressKind, type Task } from '../core/work/plan/plan.ts';
import type {
  DeclareTask,
  PlanCommand,
  PlanEvent,
  ProgressAnswer,
  TaskAnswer,
  UpdateTask,
} from '../core/work/plan/plan-events.ts';
import { decidePlan, evolvePlan } from '../core/work/plan/task.ts';
import { createPrincipal } from './story.ts';

/** A task that says nothing of itself, but for its id, its title and what it waits for. */
export const PLAIN_TASK = {
  description: '',
  project: null,
  suggestedOwner: null,
  causalParent: null,
  expectedVersion: null,
} as const;

export interface PlanStory {
  readonly book: PlanBook;
  readonly events: PlanEvent[];
  at: number;
  /** What the one command decided; it is recorded unless refused. */
  do(command: PlanCommand): Decision<PlanEvent, TaskAnswer | ProgressAnswer>;
  declare(id: string, dependsOn?: readonly string[], wishes?: Partial<DeclareTask>): Outcome;
  update(id: string, status: Task['status'], wishes?: Partial<UpdateTask>): Outcome;
  note(taskId: string | null, kind?: ProgressKind, text?: string): void;
  record(events: readonly PlanEvent[]): readonly PlanEvent['type'][];
  task(id: string): Task;
}

type Outcome = Refusal | TaskAnswer;

export function createPlanStory(by: Principal = createPrincipal('ada')): PlanStory {
  const story: PlanStory = {
    book: createPlan(),
    events: [],
    at: 1_000_000,
    do(command) {
      const decision = decidePlan(story.book, command, { doesHoldUntrusted: true });
      if (!isRefusal(decision)) story.record(decision.events);
      return decision;
    },
    declare(id, dependsOn = [], wishes = {}) {
      const decision = story.do({
        type: 'task.declare',
        by,
        at: story.at,
        id,
        ...PLAIN_TASK,
        title: `do ${id}`,
        dependsOn,
        ...wishes,
      });
      return isRefusal(decision) ? decision : (decision.answer as TaskAnswer);
    },
    update(id, status, wishes = {}) {
      const decision = story.do({
        type: 'task.update',
        by,
        at: story.at,
        id,
        status,
        suggestedOwner: null,
        expectedVersion: null,
        ...wishes,
      });
      return isRefusal(decision) ? decision : (decision.answer as TaskAnswer);
    },
    note(taskId, kind = 'note', text = 'on it') {
      const decision = story.do({ type: 'progress.post', by, at: story.at, taskId, kind, text });
      if (isRefusal(decision)) throw new Error(decision.message);
    },
    record(events) {
      for (const event of events) evolvePlan(story.book, event);
      story.events.push(...events);
      return events.map((event) => event.type);
    },
    task(id) {
      const task = story.book.nodes.get(id)?.task;
      if (task === undefined) throw new Error(`no task ${id}`);
      return task;
    },
  };
  return story;
}
