/**
 * The supervisor, without any model: looks for tasks nobody moves and offers them
 * again, with a note that says so [PL12]. Never one that somebody holds. After a number
 * of tries it stops and a person is told, once [PL13]; progress starts the count anew.
 */

import { SERVER } from '../../law/principal.ts';
import type { View } from '../../law/view.ts';
import { REOFFERS_MAX, STALLED_AFTER_MS, SUPERVISED_AT_ONCE_MAX } from '../work-limits.ts';
import type { PlanBook, TaskNode } from './plan.ts';
import { type PlanEvent, updated } from './plan-events.ts';

/** Recording the events and asking again gives the rest, when there were too many for one look. */
export function superviseDue(
  book: View<PlanBook>,
  isHeld: (taskId: string) => boolean,
  at: number,
  stalledAfterMs: number | null = null,
): PlanEvent[] {
  const events: PlanEvent[] = [];
  let handled = 0;
  for (const id of book.watched) {
    const node = book.nodes.get(id) as TaskNode;
    if (node.isEscalated) continue;
    const reason = stallOf(node, at, stalledAfterMs ?? STALLED_AFTER_MS);
    if (reason === null || isHeld(id)) continue;
    events.push(...offerAgain(node, reason, at));
    if (++handled >= SUPERVISED_AT_ONCE_MAX) break;
  }
  return events;
}

function stallOf(node: View<TaskNode>, at: number, stalledAfterMs: number): string | null {
  const { status } = node.task;
  const isIdle = at - node.movedAt >= stalledAfterMs;
  const idleS = Math.floor((at - node.movedAt) / 1000);
  if (status === 'in_progress') {
    return isIdle ? `nobody holds it and it has not moved for ${idleS} s` : null;
  }
  if (status !== 'blocked' || node.unmet > 0) return null;
  // Freed by a dependency: at once. Blocked by something the plan does not know: after a while.
  if (node.metAt > node.movedAt) return 'what it waited for has ended';
  return isIdle ? `nothing on the plan blocks it and it has not moved for ${idleS} s` : null;
}

function offerAgain(node: View<TaskNode>, reason: string, at: number): PlanEvent[] {
  const { id, status } = node.task;
  const by = SERVER.id;
  if (node.tries >= REOFFERS_MAX) {
    return [{ type: 'task.escalated', at, by, id, status, tries: node.tries }];
  }
  const tries = node.tries + 1;
  const text = `offered again (${tries} of ${REOFFERS_MAX}): it was ${status}, ${reason}`;
  return [
    { type: 'progress.noted', at, by, taskId: id, kind: 'assessment', text },
    updated(node, { at, by, status: 'open', cause: 'supervisor', tries }),
  ];
}
