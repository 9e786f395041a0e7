/** The plan: tasks with dependencies, append-only progress, and the board that shows plan and claims together. */
import { z } from 'zod';
import {
  DEPENDENCIES_PER_TASK_MAX,
  NOTE_CHARS_MAX,
  PAGE_ROWS_MAX,
  PROJECT_CHARS_MAX,
  TASK_DESCRIPTION_CHARS_MAX,
  TASK_ID_CHARS_MAX,
  TASK_TITLE_CHARS_MAX,
} from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { claimView, idempotencyKey, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const taskId = shape(() => z.string().min(1).max(TASK_ID_CHARS_MAX));
const taskStatus = shape(() => z.enum(['open', 'in_progress', 'blocked', 'done', 'cancelled']));
const progressKind = shape(() => z.enum(['note', 'blocked', 'assessment']));
const version = shape(() => z.int().min(0));

const task = shape(() =>
  z.object({
    task_id: z.string(),
    title: z.string(),
    description: z.string(),
    project: z.string().nullable(),
    depends_on: z.array(z.string()),
    status: taskStatus(),
    suggested_owner: z.string().nullable(),
    causal_parent: z.string().nullable(),
    version: version(),
    created_by: z.string(),
    created_at: seconds(),
    updated_at: seconds(),
  }),
);

const taskAnswer = shape(() =>
  z.object({
    task: task().nullable(),
    unmet: z.array(z.string()),
    unknown: z.array(z.string()),
  }),
);

export const planDeclare = operation({
  id: 'plan.declare',
  name: 'plan_declare',
  title: 'Declare a task',
  doc: 'Put a task on the plan, or change one: title, dependencies, suggested owner. Cycles are refused by name.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: taskId(),
      title: z.string().min(1).max(TASK_TITLE_CHARS_MAX),
      description: z.string().max(TASK_DESCRIPTION_CHARS_MAX).default(''),
      depends_on: z.array(taskId()).max(DEPENDENCIES_PER_TASK_MAX).default([]),
      project: z.string().max(PROJECT_CHARS_MAX).nullish(),
      suggested_owner: z.string().max(TASK_ID_CHARS_MAX).nullish(),
      causal_parent: z.string().max(TASK_ID_CHARS_MAX).nullish(),
      expected_version: version().nullish(),
      allow_unknown: z.boolean().default(false).describe('dependencies may be declared later'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => taskAnswer(),
});

export const planUpdate = operation({
  id: 'plan.update',
  name: 'plan_update',
  title: 'Update a task',
  doc: 'Change a task’s status or suggested owner.',
  access: 'writer',
  toolset: 'core',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: taskId(),
      status: taskStatus().nullish(),
      suggested_owner: z.string().max(TASK_ID_CHARS_MAX).nullish(),
      expected_version: version().nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => taskAnswer(),
});

export const planRemove = operation({
  id: 'plan.remove',
  name: 'plan_remove',
  title: 'Remove a task',
  doc: 'Take a done or cancelled task off the plan.',
  access: 'writer',
  toolset: 'work',
  hints: REMOVES,
  input: () => z.strictObject({ task_id: taskId(), idempotency_key: idempotencyKey() }),
  output: () => taskAnswer(),
});

export const planProgress = operation({
  id: 'plan.progress',
  name: 'plan_progress',
  title: 'Note progress',
  doc: 'Append a note to a task, or without task_id to the plan.',
  access: 'writer',
  toolset: 'core',
  hints: ADDS,
  input: () =>
    z.strictObject({
      task_id: taskId().nullish(),
      kind: progressKind().default('note'),
      text: z.string().min(1).max(NOTE_CHARS_MAX),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ seq: z.int() }),
});

export const planBoard = operation({
  id: 'plan.board',
  name: 'plan_board',
  title: 'The board',
  doc: 'Tasks with their claims, by pages; ready: true shows what can be taken now.',
  access: 'reader',
  toolset: 'core',
  hints: READS,
  input: () =>
    z.strictObject({
      project: z.string().max(PROJECT_CHARS_MAX).optional(),
      status: taskStatus().optional(),
      ready: z.boolean().optional(),
      after: z.string().max(TASK_ID_CHARS_MAX).optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(50),
    }),
  output: () =>
    z.object({
      tasks: z.array(
        z.object({
          ...task().shape,
          ready: z.boolean(),
          escalated: z.boolean(),
          claim: claimView().nullable(),
        }),
      ),
      totals: z.record(z.string(), z.int()),
      next: z.string().nullable(),
    }),
});

export const planNotes = operation({
  id: 'plan.notes',
  name: 'plan_notes',
  title: 'Progress notes',
  doc: 'Progress notes, oldest first, a page at a time.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      task_id: taskId().nullish(),
      after: z.int().min(0).optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () =>
    z.object({
      notes: z.array(
        z.object({
          seq: z.int(),
          task_id: z.string().nullable(),
          kind: progressKind(),
          text: z.string(),
          author: z.string(),
          posted_at: seconds(),
        }),
      ),
      next: z.int().nullable(),
    }),
});
