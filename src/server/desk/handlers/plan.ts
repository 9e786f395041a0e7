/** The plan and the board. */

import { isRefusal } from '../../../core/law/decider.ts';
import { viewClaim } from '../../../core/work/claim/claim-state.ts';
import { boardPage, progressPage } from '../../../core/work/plan/board.ts';
import type { Task } from '../../../core/work/plan/plan.ts';
import type { TaskAnswer } from '../../../core/work/plan/plan-events.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { planUpdate } from '../../../wire/operations/plan.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers } from '../room.ts';
import { claimOutput } from './claims.ts';

type Output = OutputOf<typeof planUpdate>;

export const planHandlers: Handlers<
  'plan.declare' | 'plan.update' | 'plan.remove' | 'plan.progress' | 'plan.board' | 'plan.notes'
> = {
  async 'plan.declare'({ hub, by, platform }, input) {
    const answer = await hub.submit({
      type: 'task.declare',
      by,
      at: hub.stamp(),
      id: input.task_id,
      title: input.title,
      description: input.description,
      dependsOn: input.depends_on,
      isStrict: !input.allow_unknown,
      project: input.project ?? null,
      suggestedOwner: input.suggested_owner ?? null,
      causalParent: input.causal_parent ?? null,
      expectedVersion: input.expected_version ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : taskAnswer(answer);
  },

  async 'plan.update'({ hub, by, platform }, input) {
    const answer = await hub.submit({
      type: 'task.update',
      by,
      at: hub.stamp(),
      id: input.task_id,
      status: input.status ?? null,
      suggestedOwner: input.suggested_owner ?? null,
      expectedVersion: input.expected_version ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : taskAnswer(answer);
  },

  async 'plan.remove'({ hub, by, platform }, input) {
    const answer = await hub.submit({
      type: 'task.remove',
      by,
      at: hub.stamp(),
      id: input.task_id,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : taskAnswer(answer);
  },

  async 'plan.progress'({ hub, by, platform }, input) {
    const answer = await hub.submit({
      type: 'progress.post',
      by,
      at: hub.stamp(),
      taskId: input.task_id ?? null,
      kind: input.kind,
      text: input.text,
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : { seq: answer.seq };
  },

  async 'plan.board'({ hub }, query) {
    return hub.ask((world) => {
      const page = boardPage(world.plan, query, (id) => {
        const claim = world.claims.claims.get(id);
        return claim === undefined ? null : claimOutput(viewClaim(claim));
      });
      return {
        tasks: page.rows.map((row) => ({
          ...taskView(row),
          ready: row.isReady,
          escalated: row.isEscalated,
          claim: row.claim,
        })),
        totals: { ...page.totals },
        next: page.next,
      };
    });
  },

  async 'plan.notes'({ hub }, { task_id, after, limit }) {
    return hub.ask((world) => {
      const page = progressPage(world.plan, { taskId: task_id, after, limit });
      return {
        notes: page.rows.map(({ seq, taskId, kind, text, author, at }) => ({
          seq,
          task_id: taskId,
          kind,
          text,
          author,
          posted_at: at / 1000,
        })),
        next: page.next,
      };
    });
  },
};

function taskAnswer({ task, unmet, unknown }: TaskAnswer): Output {
  return { task: task === null ? null : taskView(task), unmet: [...unmet], unknown: [...unknown] };
}

function taskView(task: Task): NonNullable<Output['task']> {
  return {
    task_id: task.id,
    title: task.title,
    description: task.description,
    project: task.project,
    depends_on: [...task.dependsOn],
    status: task.status,
    suggested_owner: task.suggestedOwner,
    causal_parent: task.causalParent,
    version: task.version,
    created_by: task.createdBy,
    created_at: task.createdAt / 1000,
    updated_at: task.updatedAt / 1000,
  };
}
