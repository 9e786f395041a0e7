/**
 * What can be asked of the plan and what can happen to it. An event says all that
 * `evolvePlan` needs, so that replaying it asks no rule again.
 */

import type { Asked } from '../../law/decider.ts';
import type { View } from '../../law/view.ts';
import type { ProgressKind, Task, TaskNode, TaskStatus } from './plan.ts';

export interface DeclareTask extends Asked {
  readonly type: 'task.declare';
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly dependsOn: readonly string[];
  /** Null keeps what there is; empty clears. So for the two below. */
  readonly project: string | null;
  readonly suggestedOwner: string | null;
  readonly causalParent: string | null;
  /** A dependency on itself or on what nobody declared is refused instead of being let pass [PL17]. */
  readonly isStrict?: boolean;
  /** 0: only if it is not on the plan yet. Null: whatever the version. */
  readonly expectedVersion: number | null;
}

export interface UpdateTask extends Asked {
  readonly type: 'task.update';
  readonly id: string;
  readonly status: TaskStatus | null;
  /** Null keeps; empty clears. */
  readonly suggestedOwner: string | null;
  readonly expectedVersion: number | null;
}

export interface RemoveTask extends Asked {
  readonly type: 'task.remove';
  readonly id: string;
}

export interface PostProgress extends Asked {
  readonly type: 'progress.post';
  readonly taskId: string | null;
  readonly kind: ProgressKind;
  readonly text: string;
}

export type PlanCommand = DeclareTask | UpdateTask | RemoveTask | PostProgress;

export interface TaskDeclared
  extends Omit<Task, 'status' | 'createdBy' | 'createdAt' | 'updatedAt'> {
  readonly type: 'task.declared';
  readonly at: number;
  readonly by: string;
}

export interface TaskUpdated {
  readonly type: 'task.updated';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly status: TaskStatus;
  readonly suggestedOwner: string | null;
  readonly version: number;
  /** Who moved it: a caller, the claim on it, or the supervisor. */
  readonly cause: 'asked' | 'claim' | 'supervisor';
  /** Set when the count of re-offers changes; 0 starts anew. */
  readonly tries?: number;
}

export interface TaskRemoved {
  readonly type: 'task.removed';
  readonly at: number;
  readonly by: string;
  readonly id: string;
}

/** A person must look: offering it again has not helped. */
export interface TaskEscalated {
  readonly type: 'task.escalated';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly status: TaskStatus;
  readonly tries: number;
}

export interface ProgressNoted {
  readonly type: 'progress.noted';
  readonly at: number;
  readonly by: string;
  readonly taskId: string | null;
  readonly kind: ProgressKind;
  readonly text: string;
}

export type PlanEvent = TaskDeclared | TaskUpdated | TaskRemoved | TaskEscalated | ProgressNoted;

export interface TaskAnswer {
  /** The task as it is once the events are recorded; null when it was removed. */
  readonly task: Task | null;
  /** Dependencies not yet done or cancelled. */
  readonly unmet: readonly string[];
  /** Of those, the ones nobody has declared: a typing mistake shows here. */
  readonly unknown: readonly string[];
}

export interface ProgressAnswer {
  readonly seq: number;
}

/** The event of a task that moves on by one version. */
export function updated(
  node: View<TaskNode>,
  change: Pick<TaskUpdated, 'at' | 'by' | 'status' | 'cause'> & Partial<TaskUpdated>,
): TaskUpdated {
  const { id, suggestedOwner, version } = node.task;
  return { type: 'task.updated', id, suggestedOwner, ...change, version: version + 1 };
}

export function taskAfter(task: Task, event: TaskUpdated): Task {
  const { status, suggestedOwner, version, at } = event;
  return { ...task, status, suggestedOwner, version, updatedAt: at };
}
