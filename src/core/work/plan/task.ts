/**
 * Tasks: the nodes of the plan. Declaring is an upsert that keeps status and
 * creator [PL1]; a dependency that would close a cycle is refused, naming it [PL2];
 * a stale version is refused [PL7]. Progress is append-only notes [PL9].
 */

import { unreachable } from '../../law/assert.ts';
import { type Decision, refuse } from '../../law/decider.ts';
import { type Principal, SERVER } from '../../law/principal.ts';
import { isName, isProse } from '../../law/text.ts';
import type { View } from '../../law/view.ts';
import { checkWriter, invalid, type WriteContext } from '../../law/writer.ts';
import { NOTE_CHARS_MAX, TASK_ID_CHARS_MAX } from '../work-limits.ts';
import { decideDeclare } from './declare-task.ts';
import {
  dropTask,
  isMet,
  isTerminal,
  keepNote,
  type PlanBook,
  PROGRESS_KINDS,
  putTask,
  TASK_STATUSES,
  type TaskStatus,
} from './plan.ts';
import {
  type PlanCommand,
  type PlanEvent,
  type PostProgress,
  type ProgressAnswer,
  type ProgressNoted,
  type RemoveTask,
  type TaskAnswer,
  taskAfter,
  type UpdateTask,
  updated,
} from './plan-events.ts';
import { answerOf, badId, checkVersion, choose, isEmptyOr, notFound } from './task-words.ts';

export function decidePlan(
  book: View<PlanBook>,
  command: PlanCommand,
  context: WriteContext,
): Decision<PlanEvent, TaskAnswer | ProgressAnswer> {
  const forbidden = checkWriter(command.by, context);
  if (forbidden !== null) return forbidden;
  switch (command.type) {
    case 'task.declare':
      return decideDeclare(book, command);
    case 'task.update':
      return decideUpdate(book, command);
    case 'task.remove':
      return decideRemove(book, command);
    case 'progress.post':
      return decideProgress(book, command);
    default:
      return unreachable(command);
  }
}

function decideUpdate(book: View<PlanBook>, command: UpdateTask): Decision<PlanEvent, TaskAnswer> {
  const { by, at, status } = command;
  const id = command.id.trim();
  if (status !== null && !TASK_STATUSES.includes(status)) {
    return invalid(`${status} is no status; use one of ${TASK_STATUSES.join(', ')}`);
  }
  if (!isEmptyOr(command.suggestedOwner, TASK_ID_CHARS_MAX))
    return invalid('suggested_owner is not a name');
  const node = book.nodes.get(id);
  if (node === undefined) return notFound(id);
  const { task } = node;
  const stale = checkVersion(id, task, command.expectedVersion);
  if (stale !== null) return stale;
  const next = status ?? task.status;
  const suggestedOwner = choose(command.suggestedOwner, task.suggestedOwner);
  const startsAnew = isHeeded(by, next) && (node.tries > 0 || node.isEscalated);
  if (next === task.status && suggestedOwner === task.suggestedOwner && !startsAnew) {
    return { events: [], answer: answerOf(book, task) };
  }
  const moved = updated(node, { at, by: by.id, status: next, suggestedOwner, cause: 'asked' });
  return {
    events: [startsAnew ? { ...moved, tries: 0 } : moved],
    answer: answerOf(book, taskAfter(task, moved)),
  };
}

/** Only what has ended goes, and only when nobody waits for it: a done dependency must stay done. */
function decideRemove(book: View<PlanBook>, command: RemoveTask): Decision<PlanEvent, TaskAnswer> {
  const id = command.id.trim();
  const task = book.nodes.get(id)?.task;
  if (task === undefined) return notFound(id);
  if (!isTerminal(task.status)) {
    return refuse(
      'task.needed',
      `${id} is ${task.status}; only a done or cancelled task is removed`,
    );
  }
  for (const dependent of book.dependents.get(id) ?? []) {
    if (isMet(book, dependent)) continue;
    return refuse('task.needed', `${dependent} depends on ${id}; end or redeclare it first`, {
      dependent,
    });
  }
  return {
    events: [{ type: 'task.removed', at: command.at, by: command.by.id, id }],
    answer: { task: null, unmet: [], unknown: [] },
  };
}

function decideProgress(
  book: View<PlanBook>,
  command: PostProgress,
): Decision<PlanEvent, ProgressAnswer> {
  const { by, at, kind, text } = command;
  const taskId = command.taskId?.trim() || null;
  const isId = taskId === null || book.nodes.has(taskId) || isName(taskId, TASK_ID_CHARS_MAX);
  if (!isId) return badId(taskId);
  if (!PROGRESS_KINDS.includes(kind)) {
    return invalid(`${kind} is no kind of progress; use one of ${PROGRESS_KINDS.join(', ')}`);
  }
  if (text.trim() === '' || !isProse(text, NOTE_CHARS_MAX)) {
    return invalid(`a note has 1 to ${NOTE_CHARS_MAX} characters of text`);
  }
  return {
    events: [{ type: 'progress.noted', at, by: by.id, taskId, kind, text }],
    answer: { seq: book.noted + 1 },
  };
}

export function evolvePlan(book: PlanBook, event: PlanEvent): void {
  switch (event.type) {
    case 'task.declared': {
      const { type: _, at, by, ...declared } = event;
      const known = book.nodes.get(event.id)?.task;
      const { status, createdBy, createdAt } = known ?? {
        status: 'open',
        createdBy: by,
        createdAt: at,
      };
      putTask(book, { ...declared, status, createdBy, createdAt, updatedAt: at }, at);
      return;
    }
    case 'task.updated': {
      const node = book.nodes.get(event.id);
      if (node === undefined) return;
      putTask(book, taskAfter(node.task, event), event.at);
      if (event.tries === undefined) return;
      node.tries = event.tries;
      if (event.tries === 0) node.isEscalated = false;
      return;
    }
    case 'task.removed':
      return dropTask(book, event.id, event.at);
    case 'task.escalated': {
      const node = book.nodes.get(event.id);
      if (node === undefined) return;
      node.tries = event.tries;
      node.isEscalated = true;
      return;
    }
    case 'progress.noted':
      return evolveNoted(book, event);
    default:
      return unreachable(event);
  }
}

function evolveNoted(book: PlanBook, event: ProgressNoted): void {
  const { at, by, taskId, kind, text } = event;
  keepNote(book, { taskId, kind, text, author: by, at });
  const node = taskId === null ? undefined : book.nodes.get(taskId);
  if (node === undefined) return;
  node.movedAt = at;
  // Saying that one is stuck is no progress, and what the hub says of a task is not either [PL14].
  if (kind === 'blocked' || by === SERVER.id) return;
  node.tries = 0;
  node.isEscalated = false;
}

/** A person's hand, or an end, starts the count of re-offers anew [PL14]. */
function isHeeded(by: Principal, status: TaskStatus): boolean {
  return by.kind === 'human' || by.kind === 'admin' || isTerminal(status);
}
