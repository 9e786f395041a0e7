/** The shapes of runs and their steps, as they come in and go out. */
import { z } from 'zod';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import {
  DIFFERENCE_CHARS_MAX,
  ERROR_MESSAGE_CHARS_MAX,
  ERROR_NAME_CHARS_MAX,
  EXECUTOR_CHARS_MAX,
  QUEUE_NAME_CHARS_MAX,
  RUN_ID_CHARS_MAX,
  RUN_KEY_CHARS_MAX,
  RUN_LEASE_MS_LONGEST,
  RUN_LEASE_MS_SHORTEST,
  SIGNAL_NAME_CHARS_MAX,
  SLEEP_MS_MAX,
  STEP_KEY_CHARS_MAX,
  STEP_KIND_CHARS_MAX,
  STEP_NAME_CHARS_MAX,
  VERSION_CHARS_MAX,
  WAITS_PER_RUN_MAX,
  WORKFLOW_NAME_CHARS_MAX,
} from '../../core/workflows/workflow-limits.ts';
import { messageIdText, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const WAIT_MS_MAX = 600_000;

export const runId = shape(() => z.string().min(1).max(RUN_ID_CHARS_MAX));
export const workflowName = shape(() => z.string().min(1).max(WORKFLOW_NAME_CHARS_MAX));
export const version = shape(() => z.string().min(1).max(VERSION_CHARS_MAX));
export const queueName = shape(() => z.string().min(1).max(QUEUE_NAME_CHARS_MAX));
export const runKey = shape(() => z.string().min(1).max(RUN_KEY_CHARS_MAX));
export const stepName = shape(() => z.string().min(1).max(STEP_NAME_CHARS_MAX));
export const stepKey = shape(() => z.string().min(1).max(STEP_KEY_CHARS_MAX).nullish());
export const epoch = shape(() => z.int().min(1).describe('the number that it was taken with'));
export const sleepMs = shape(() => z.int().min(0).max(SLEEP_MS_MAX));
export const json = shape(() => z.unknown().describe('any JSON, at most 1 MiB'));
export const waitMs = shape(() => z.int().min(0).max(WAIT_MS_MAX));
export const leaseMs = shape(() =>
  z
    .int()
    .min(RUN_LEASE_MS_SHORTEST)
    .max(RUN_LEASE_MS_LONGEST)
    .optional()
    .describe('record or renew before it lapses; omitted: 30 s'),
);
export const executor = shape(() =>
  z
    .string()
    .min(1)
    .max(EXECUTOR_CHARS_MAX)
    .describe('what the executor calls itself: a machine and a number'),
);
export const page = shape(() => ({
  after: z.string().max(512).optional(),
  limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
}));

export const runState = shape(() =>
  z.enum([
    ...(['queued', 'running', 'completed', 'failed', 'compensating', 'compensated'] as const),
    ...(['compensation_failed', 'cancelled', 'stuck'] as const),
  ]),
);
const stepState = shape(() =>
  z.enum([
    ...(['pending', 'running', 'completed', 'failed', 'skipped', 'cancelled'] as const),
    ...(['compensated', 'compensation_failed'] as const),
  ]),
);
const policy = shape(() => z.enum(['retry', 'ask', 'fail']));

export const stepRef = shape(() => z.strictObject({ step: stepName(), key: stepKey() }));
const runError = shape(() =>
  z.strictObject({
    name: z.string().min(1).max(ERROR_NAME_CHARS_MAX),
    message: z.string().max(ERROR_MESSAGE_CHARS_MAX),
    terminal: z.boolean().default(false),
  }),
);
const errorView = shape(() =>
  z.object({ name: z.string(), message: z.string(), terminal: z.boolean() }),
);
const cost = shape(() =>
  z.object({
    usd: z.number().min(0).optional(),
    tokens_in: z.number().min(0).optional(),
    tokens_out: z.number().min(0).optional(),
  }),
);

const waitView = shape(() =>
  z.object({
    step: z.string(),
    key: z.string().nullable(),
    on: z.record(z.string(), z.unknown()).describe('kind, and what it is for'),
    until: seconds().nullable(),
    ended: z.boolean(),
  }),
);

export const runHead = shape(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    version: z.string().nullable().describe('that it asked for, else that of its last executor'),
    state: runState(),
    over: z.boolean(),
    suspended: z.boolean().describe('it sleeps until one of waiting_on ends; no process is needed'),
    waiting_on: z.array(waitView()),
    cancelling: z.string().nullable().describe('why; empty when no reason was given'),
    epoch: z.int(),
    holder: z.string().nullable(),
    executor: z.string().nullable(),
    lease_until: seconds().nullable(),
    created_at: seconds(),
    started_at: seconds().nullable(),
    ended_at: seconds().nullable(),
    queue: z.string().nullable(),
    key: z.string().nullable(),
    priority: z.int(),
    attempts: z.int().describe('how often it was taken'),
    parent: z.object({ id: z.string(), step: z.string(), key: z.string().nullable() }).nullable(),
    forked_from: z.object({ id: z.string(), step: z.string() }).nullable(),
    traceparent: z.string().nullable(),
    started_by: z.string(),
    steps_count: z.int(),
    unoffered: z.string().nullable().describe('queued, and no executor has asked for it: why'),
  }),
);

export const runView = shape(() =>
  runHead().extend({
    input: z.unknown(),
    result: z.unknown(),
    error: errorView().nullable(),
    stuck: z.object({ difference: z.string() }).nullable(),
  }),
);

export const stepView = shape(() =>
  z.object({
    step: z.string(),
    key: z.string().nullable(),
    kind: z.string(),
    state: stepState(),
    compensating: z.boolean(),
    uncertain: z.boolean().describe('it began under an executor that was lost: it may have run'),
    attempts: z.int(),
    policy: policy().nullable(),
    result: z.unknown(),
    error: errorView().nullable(),
    cost: cost().nullable(),
    started_at: seconds().nullable(),
    ended_at: seconds().nullable(),
    waiting_on: waitView().nullable(),
    order: z.int().nullable().describe('in which it completed, failed for good or was skipped'),
  }),
);

export const resolvedView = shape(() =>
  z.object({
    step: z.string(),
    key: z.string().nullable(),
    by: z.enum([
      ...(['timer', 'retry', 'gate', 'signal', 'child', 'turn', 'collect'] as const),
      ...(['answer', 'timeout'] as const),
    ]),
    gate: z
      .object({
        id: z.string(),
        state: z.string(),
        by: z.string().nullable(),
        reason: z.string().nullable(),
      })
      .optional(),
    signal: z.object({ name: z.string(), by: z.string(), value: z.unknown() }).optional(),
    child: z
      .object({
        id: z.string(),
        state: z.string(),
        result: z.unknown(),
        error: errorView().nullable(),
      })
      .optional(),
    replies: z.array(z.string()).optional().describe('ids of messages'),
    turn: z
      .object({
        ...{ id: z.string(), state: z.string(), note: z.string().nullable() },
        cost: cost().nullable(),
      })
      .optional()
      .describe('the turn that the message began, when that is over'),
    answer: z.string().optional(),
  }),
);

export const resolvedNext = shape(() =>
  z.string().nullable().describe('more has ended: take again, with this as after of what you hold'),
);

export const newsView = shape(() =>
  z.object({
    id: z.string(),
    epoch: z.int(),
    ok: z.boolean().describe('false: it is not yours any more; stop'),
    news: z.int(),
    cancelling: z.string().nullable(),
    resolved: z.array(resolvedView()),
    resolved_next: resolvedNext(),
  }),
);

const on = shape(() =>
  z.union([
    z.strictObject({ timer_ms: sleepMs() }),
    z.strictObject({ retry_ms: sleepMs() }),
    z.strictObject({ gate: z.string().min(1).max(64) }),
    z.strictObject({ signal: z.string().min(1).max(SIGNAL_NAME_CHARS_MAX) }),
    z.strictObject({ child: runId() }),
    z.strictObject({ turn: z.strictObject({ message_id: messageIdText() }) }),
    z.strictObject({
      collect: z.strictObject({
        message_id: messageIdText(),
        count: z.int().min(1).max(WAITS_PER_RUN_MAX),
      }),
    }),
    z.strictObject({ ask: z.string().min(1).max(DIFFERENCE_CHARS_MAX) }),
  ]),
);

const onStep = shape(() => ({
  step: stepName(),
  key: stepKey(),
  step_kind: z.string().min(1).max(STEP_KIND_CHARS_MAX).optional(),
}));

export const entry = shape(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('started'), ...onStep(), policy: policy().optional() }),
    z.strictObject({
      ...{ kind: z.literal('completed'), ...onStep(), result: json().optional() },
      cost: cost().optional(),
      took_ms: sleepMs()
        .optional()
        .describe('how long it ran, when that it began was not recorded'),
    }),
    z.strictObject({
      ...{ kind: z.literal('failed'), ...onStep(), error: runError() },
      retry_ms: sleepMs().optional().describe('it is tried again then'),
    }),
    z.strictObject({
      kind: z.literal('waiting'),
      ...onStep(),
      on: on(),
      timeout_ms: sleepMs().optional(),
    }),
    z.strictObject({ kind: z.literal('skipped'), ...onStep() }),
    z.strictObject({ kind: z.literal('cancelled'), ...onStep() }),
    z.strictObject({ kind: z.literal('compensating'), ...onStep() }),
    z.strictObject({ kind: z.literal('compensated'), ...onStep() }),
    z.strictObject({ kind: z.literal('compensation_failed'), ...onStep(), error: runError() }),
    z
      .strictObject({ kind: z.literal('compensate') })
      .describe('the run begins to undo what it did'),
    z.strictObject({
      kind: z.literal('stuck'),
      difference: z.string().min(1).max(DIFFERENCE_CHARS_MAX),
    }),
    z.strictObject({
      kind: z.literal('ended'),
      state: z.enum(['completed', 'failed', 'compensated', 'compensation_failed', 'cancelled']),
      ...{ result: json().optional(), error: runError().optional() },
    }),
    z.strictObject({ kind: z.literal('released') }),
  ]),
);

export const queueView = shape(() =>
  z.object({
    name: z.string(),
    concurrency: z.int().nullable(),
    per_key: z.int().nullable(),
    per_agent: z.int().nullable(),
    rate: z.object({ limit: z.int(), per_ms: z.int() }).nullable(),
    executors: z.array(z.string()),
    under_way: z.int().describe('runs that were taken and are not over'),
    declared_by: z.string(),
    declared_at: seconds(),
  }),
);
