/**
 * Declaring a task: an upsert that keeps status and creator [PL1], leaves out the
 * task itself and repeated dependencies [PL3], refuses a cycle and names it [PL2],
 * and changes nothing when nothing changed.
 */

import { type Decision, type Refusal, refuse, refuseFull } from '../../law/decider.ts';
import type { Principal } from '../../law/principal.ts';
import { checkShare } from '../../law/shares.ts';
import { isLine, isName, isProse } from '../../law/text.ts';
import type { View } from '../../law/view.ts';
import { invalid } from '../../law/writer.ts';
import {
  CYCLE_NAMED_MAX,
  DEPENDENCIES_PER_TASK_MAX,
  PROJECT_CHARS_MAX,
  TASK_DESCRIPTION_CHARS_MAX,
  TASK_ID_CHARS_MAX,
  TASK_TITLE_CHARS_MAX,
  TASKS_PER_PROJECT_MAX,
} from '../work-limits.ts';
import { charsOf, type PlanBook, type PlanPart, type Task } from './plan.ts';
import type { DeclareTask, PlanEvent, TaskAnswer } from './plan-events.ts';
import { answerOf, badId, checkVersion, choose, isEmptyOr } from './task-words.ts';

export function decideDeclare(
  book: View<PlanBook>,
  command: DeclareTask,
): Decision<PlanEvent, TaskAnswer> {
  const { by, at } = command;
  const id = command.id.trim();
  const title = command.title.trim();
  const named = command.dependsOn.map((one) => one.trim());
  const flawed = checkWords(book, id, command, title, named);
  if (flawed !== null) return flawed;
  const known = book.nodes.get(id)?.task;
  const stale = checkVersion(id, known, command.expectedVersion);
  if (stale !== null) return stale;
  const loose = command.isStrict === true ? checkStrictly(book, id, named) : null;
  if (loose !== null) return loose;
  const dependsOn = [...new Set(named)].filter((one) => one !== id);
  const task: Task = {
    id,
    title,
    description: command.description,
    project: choose(command.project, known?.project),
    dependsOn,
    status: known?.status ?? 'open',
    suggestedOwner: choose(command.suggestedOwner, known?.suggestedOwner),
    version: (known?.version ?? 0) + 1,
    createdBy: known?.createdBy ?? by.id,
    createdAt: known?.createdAt ?? at,
    updatedAt: at,
    causalParent: choose(command.causalParent, known?.causalParent),
  };
  if (known !== undefined && isSameText(known, task)) {
    return { events: [], answer: answerOf(book, known) };
  }
  const full = checkRoom(book, by, known, task);
  if (full !== null) return full;
  const cycle = findCycle(book, id, dependsOn);
  if (cycle !== null) {
    const path = nameCycle(cycle);
    return refuse(
      'task.cycle',
      `${id} would wait for itself: ${path}; drop one of these dependencies`,
      {
        cycle: path,
      },
    );
  }
  const { status: _, createdBy: __, createdAt: ___, updatedAt: ____, ...declared } = task;
  return {
    events: [{ type: 'task.declared', at, by: by.id, ...declared }],
    answer: answerOf(book, task),
  };
}

/** What would most likely be a mistake [PL17]. */
function checkStrictly(book: View<PlanBook>, id: string, named: readonly string[]): Refusal | null {
  if (named.includes(id)) {
    const cycle = `${id} -> ${id}`;
    return refuse('task.cycle', `${id} would wait for itself: ${cycle}`, { cycle });
  }
  const unknown = named.filter((one) => !book.nodes.has(one));
  if (unknown.length === 0) return null;
  return refuse(
    'task.not-found',
    `${id} would depend on ${unknown.join(', ')}, which nobody declared; declare it first, or allow_unknown`,
    { unknown },
  );
}

function checkWords(
  book: View<PlanBook>,
  id: string,
  command: DeclareTask,
  title: string,
  dependsOn: readonly string[],
): Refusal | null {
  const isId = (one: string) => book.nodes.has(one) || isName(one, TASK_ID_CHARS_MAX);
  if (!isId(id)) return badId(id);
  if (title === '' || !isLine(title, TASK_TITLE_CHARS_MAX)) {
    return invalid(`a title is one line of 1 to ${TASK_TITLE_CHARS_MAX} characters`);
  }
  if (!isProse(command.description, TASK_DESCRIPTION_CHARS_MAX)) {
    return invalid(`a description has at most ${TASK_DESCRIPTION_CHARS_MAX} characters of text`);
  }
  if (dependsOn.length > DEPENDENCIES_PER_TASK_MAX) {
    return refuseFull('DEPENDENCIES_PER_TASK_MAX', DEPENDENCIES_PER_TASK_MAX);
  }
  const bad = dependsOn.find((one) => !isId(one));
  if (bad !== undefined) return badId(bad);
  if (!isEmptyOr(command.suggestedOwner, TASK_ID_CHARS_MAX))
    return invalid('suggested_owner is not a name');
  if (!isEmptyOr(command.project, PROJECT_CHARS_MAX)) return invalid('project is not a name');
  if (!isEmptyOr(command.causalParent, TASK_ID_CHARS_MAX)) {
    return invalid('causal_parent is not an id');
  }
  return null;
}

function checkRoom(
  book: View<PlanBook>,
  by: Principal,
  known: Task | undefined,
  task: Task,
): Refusal | null {
  if (task.project !== null && task.project !== known?.project) {
    const there = book.projects.get(task.project)?.tasks ?? 0;
    if (there >= TASKS_PER_PROJECT_MAX) {
      return refuseFull('TASKS_PER_PROJECT_MAX', TASKS_PER_PROJECT_MAX);
    }
  }
  // What another declares anew counts for who created it.
  const mine = book.parts.get(task.createdBy) ?? NOTHING;
  const edges = task.dependsOn.length - (known?.dependsOn.length ?? 0);
  const chars = charsOf(task) - (known === undefined ? 0 : charsOf(known));
  return (
    checkShare('TASKS_MAX', by, book.nodes.size, mine.tasks, known === undefined ? 1 : 0) ??
    checkShare('DEPENDENCIES_MAX', by, book.edges, mine.edges, edges) ??
    checkShare('PLAN_CHARS_MAX', by, book.chars, mine.chars, chars)
  );
}

const NOTHING: PlanPart = { tasks: 0, edges: 0, chars: 0 };

function isSameText(a: Task, b: Task): boolean {
  return (
    a.title === b.title &&
    a.description === b.description &&
    a.project === b.project &&
    a.suggestedOwner === b.suggestedOwner &&
    a.causalParent === b.causalParent &&
    a.dependsOn.length === b.dependsOn.length &&
    a.dependsOn.every((one, i) => one === b.dependsOn[i])
  );
}

/**
 * The ids along the shortest cycle these dependencies would close, `id` first and last; null when none.
 * The plan holds none [PL2], so only what is new can close one, and only when somebody waits for the task.
 */
function findCycle(
  book: View<PlanBook>,
  id: string,
  dependsOn: readonly string[],
): readonly string[] | null {
  if (!book.dependents.has(id)) return null;
  const old = new Set(book.nodes.get(id)?.task.dependsOn);
  const cameFrom = new Map<string, string>();
  for (const one of dependsOn) if (!old.has(one)) cameFrom.set(one, id);
  // A map grows while it is walked, and is walked in order: it is the queue as well.
  for (const [here] of cameFrom) {
    for (const next of book.nodes.get(here)?.task.dependsOn ?? []) {
      if (next === id) return trace(cameFrom, here, id);
      if (!cameFrom.has(next)) cameFrom.set(next, here);
    }
  }
  return null;
}

/** `a -> b -> a`; of a long one the beginning and the end. */
function nameCycle(cycle: readonly string[]): string {
  if (cycle.length <= CYCLE_NAMED_MAX) return cycle.join(' -> ');
  const half = CYCLE_NAMED_MAX / 2;
  const left = cycle.length - CYCLE_NAMED_MAX;
  return [...cycle.slice(0, half), `(${left} more)`, ...cycle.slice(-half)].join(' -> ');
}

function trace(cameFrom: ReadonlyMap<string, string>, last: string, id: string): string[] {
  const back = [id];
  for (let here = last; here !== id; here = cameFrom.get(here) ?? id) back.push(here);
  back.push(id);
  return back.reverse();
}
