/**
 * What the verbs on tasks share: ids, versions, the answer, and the refusals.
 */

import { type Refusal, refuse } from '../../law/decider.ts';
import { isPrintable, NAME_ALPHABET } from '../../law/text.ts';
import type { View } from '../../law/view.ts';
import { invalid } from '../../law/writer.ts';
import { TASK_ID_CHARS_MAX } from '../work-limits.ts';
import { isMet, type PlanBook, type Task } from './plan.ts';
import type { TaskAnswer } from './plan-events.ts';

export function checkVersion(
  id: string,
  known: Task | undefined,
  expected: number | null,
): Refusal | null {
  const actual = known?.version ?? 0;
  if (expected === null || expected === actual) return null;
  return refuse(
    'task.version',
    `${id} is at version ${actual}, not ${expected}: read it again, then decide anew`,
    { expected, actual },
  );
}

export function answerOf(book: View<PlanBook>, task: Task): TaskAnswer {
  const unmet = task.dependsOn.filter((one) => !isMet(book, one));
  return { task, unmet, unknown: unmet.filter((one) => !book.nodes.has(one)) };
}

/** Null keeps what there was; empty clears. */
export function choose(wish: string | null, known: string | null | undefined): string | null {
  return wish === null ? (known ?? null) : wish.trim() || null;
}

export function isEmptyOr(text: string | null, charsMax: number): boolean {
  return text === null || text.trim() === '' || isPrintable(text.trim(), charsMax);
}

export function badId(id: string): Refusal {
  const shown = JSON.stringify(id.slice(0, 64));
  return invalid(`${shown} is no task id: 1 to ${TASK_ID_CHARS_MAX} characters, ${NAME_ALPHABET}`);
}

export function notFound(id: string): Refusal {
  return refuse(
    'task.not-found',
    `there is no task ${id.slice(0, TASK_ID_CHARS_MAX)} on the plan; plan.board lists them`,
  );
}
