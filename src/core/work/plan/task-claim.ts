/**
 * The plan follows the claims: taking one starts its task, ending it ends the task,
 * and a task whose holder let go, or died, is open again by itself [PL11]. Claims on
 * ids that are not on the plan change nothing here.
 */

import { SERVER } from '../../law/principal.ts';
import type { View } from '../../law/view.ts';
import { NOTE_CHARS_MAX, REOFFERS_MAX } from '../work-limits.ts';
import { isTerminal, type PlanBook } from './plan.ts';
import { type PlanEvent, updated } from './plan-events.ts';

export interface ClaimFact {
  readonly taskId: string;
  /** Who holds, or held, the claim. */
  readonly agent: string;
  readonly at: number;
}

export type ClaimOutcome = 'done' | 'failed' | 'released' | 'expired';

export interface ClaimEnd extends ClaimFact {
  readonly outcome: ClaimOutcome;
  /** What the holder said last, if anything. */
  readonly note?: string;
}

/** What has ended stays ended: claiming a done task for an afterthought does not reopen it. */
export function onClaimTaken(book: View<PlanBook>, fact: ClaimFact): PlanEvent[] {
  const node = book.nodes.get(fact.taskId);
  if (node === undefined) return [];
  const { status } = node.task;
  if (status === 'in_progress' || isTerminal(status)) return [];
  return [updated(node, { at: fact.at, by: fact.agent, status: 'in_progress', cause: 'claim' })];
}

export function onClaimEnded(book: View<PlanBook>, fact: ClaimEnd): PlanEvent[] {
  const node = book.nodes.get(fact.taskId);
  if (node === undefined || isTerminal(node.task.status)) return [];
  const { at, agent, taskId, outcome } = fact;
  if (outcome === 'done') {
    return [updated(node, { at, by: agent, status: 'done', cause: 'claim', tries: 0 })];
  }
  if (outcome === 'failed') {
    const text = `the claim failed: ${fact.note ?? 'no reason given'}`
      .slice(0, NOTE_CHARS_MAX)
      .toWellFormed();
    return [
      { type: 'progress.noted', at, by: agent, taskId, kind: 'blocked', text },
      updated(node, { at, by: agent, status: 'blocked', cause: 'claim' }),
    ];
  }
  if (node.task.status !== 'in_progress') return [];
  if (outcome === 'released') {
    return [updated(node, { at, by: agent, status: 'open', cause: 'claim' })];
  }
  // A task that kills whoever takes it comes back all the same, but a person hears of it [PL13].
  const tries = node.tries + 1;
  const back = updated(node, { at, by: SERVER.id, status: 'open', cause: 'claim', tries });
  if (tries <= REOFFERS_MAX || node.isEscalated) return [back];
  return [back, { type: 'task.escalated', at, by: SERVER.id, id: taskId, status: 'open', tries }];
}
