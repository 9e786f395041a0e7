/** Runs of workflows: started, executed under a lease, waited for, signalled, cancelled, retried and forked. */
import { z } from 'zod';
import {
  ENTRIES_LIST_MAX,
  HELD_RUNS_LIST_MAX,
  PRIORITY_HIGHEST,
  QUEUE_EXECUTORS_LIST_MAX,
  RATE_LIST_MAX,
  RUN_REASON_CHARS_MAX,
  RUNS_MAX,
  SIGNAL_NAME_CHARS_MAX,
  SLEEP_MS_MAX,
  STEP_NAMES_LIST_MAX,
  TAKE_LIST_MAX,
  WORKFLOWS_LIST_MAX,
} from '../../core/workflows/workflow-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey } from '../schemas.ts';
import {
  entry,
  epoch,
  executor,
  json,
  leaseMs,
  newsView,
  page,
  queueName,
  queueView,
  resolvedNext,
  resolvedView,
  runHead,
  runId,
  runKey,
  runState,
  runView,
  sleepMs,
  stepKey,
  stepName,
  stepRef,
  stepView,
  version,
  waitMs,
  workflowName,
} from './workflow-schemas.ts';

export const workflowsStart = operation({
  id: 'workflows.start',
  name: 'workflows_start',
  title: 'Start a run of a workflow',
  doc: 'Start a run; an executor of that workflow takes it. The same id, name and input again is the same run.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      name: workflowName(),
      input: json().optional(),
      id: runId().optional(),
      version: version().optional().describe('only executors that offer this version take it'),
      queue: queueName().optional(),
      key: runKey().optional().describe('what a queue counts by per_key'),
      priority: z.int().min(-PRIORITY_HIGHEST).max(PRIORITY_HIGHEST).default(0),
      delay_ms: sleepMs().default(0),
      dedup: runKey()
        .optional()
        .describe('while a run with this word is not over, that one is meant'),
      parent: z.strictObject({ id: runId(), step: stepName(), key: stepKey() }).optional(),
      steps: z.array(stepName()).max(STEP_NAMES_LIST_MAX).default([]),
      traceparent: z.string().max(256).optional(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => runView().extend({ existing: z.boolean().describe('it was there before') }),
});

export const workflowsGet = operation({
  id: 'workflows.get',
  name: 'workflows_get',
  title: 'Show a run',
  doc: 'One run: state, what it waits for, input, result or error.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ id: runId() }),
  output: () => runView(),
});

export const workflowsWait = operation({
  id: 'workflows.wait',
  name: 'workflows_wait',
  title: 'Wait for a run',
  doc: 'The run when it is over or stuck, or as it is when the time is up.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ id: runId(), timeout_ms: waitMs().default(30_000) }),
  output: () => runView(),
});

export const workflowsList = operation({
  id: 'workflows.list',
  name: 'workflows_list',
  title: 'List runs',
  doc: 'Runs that you may see, the newest first; without a state those that are not over.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      state: z.union([runState(), z.literal('all')]).optional(),
      name: workflowName().optional(),
      parent: runId().optional().describe('only those that this run started'),
      ...page(),
    }),
  output: () => z.object({ runs: z.array(runHead()), next: z.string().nullable() }),
});

export const workflowsSteps = operation({
  id: 'workflows.steps',
  name: 'workflows_steps',
  title: 'Show the steps of a run',
  doc: 'The journal of a run: its steps with attempts, times, results and errors.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ id: runId(), ...page() }),
  output: () => z.object({ steps: z.array(stepView()), next: z.string().nullable() }),
});

export const workflowsSignal = operation({
  id: 'workflows.signal',
  name: 'workflows_signal',
  title: 'Signal a run',
  doc: 'Tell a run something by name; kept when nobody waits for it yet.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      id: runId(),
      name: z.string().min(1).max(SIGNAL_NAME_CHARS_MAX),
      value: json().optional(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ id: z.string(), name: z.string(), kept: z.boolean() }),
});

export const workflowsCancel = operation({
  id: 'workflows.cancel',
  name: 'workflows_cancel',
  title: 'Cancel a run',
  doc: 'Cancel a run and its children. One that did something is ended by its executor, which undoes it first.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      id: runId(),
      reason: z.string().max(RUN_REASON_CHARS_MAX).optional(),
      force: z
        .boolean()
        .default(false)
        .describe('it is over at once, whoever holds it; nothing is undone'),
    }),
  output: () => runView(),
});

export const workflowsRetry = operation({
  id: 'workflows.retry',
  name: 'workflows_retry',
  title: 'Go on with a run',
  doc: 'Go on with a run that failed, is stuck or was cancelled; what is completed stays, from from_step on if that is said.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      id: runId(),
      from_step: stepRef().optional(),
      map: z
        .record(stepName(), stepName())
        .optional()
        .describe('new names of steps by the names they have in the journal'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => runView(),
});

export const workflowsFork = operation({
  id: 'workflows.fork',
  name: 'workflows_fork',
  title: 'Fork a run',
  doc: 'Start another run from a step of a run on: what completed before that step is not done again.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      id: runId(),
      at_step: stepRef(),
      input: json().optional(),
      new_id: runId().optional(),
      version: version().optional(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => runView(),
});

export const workflowsAnswer = operation({
  id: 'workflows.answer',
  name: 'workflows_answer',
  title: 'Answer for a step',
  doc: 'For a step that may have run and asks a person: try it again, or let it fail.',
  access: 'person',
  toolset: 'more',
  // A step asks once; a second answer finds nobody who asks.
  hints: { ...SETS, idempotentHint: false },
  input: () =>
    z.strictObject({
      id: runId(),
      step: stepName(),
      key: stepKey(),
      answer: z.enum(['retry', 'fail']),
    }),
  output: () => runView(),
});

export const workflowsQueue = operation({
  id: 'workflows.queue',
  name: 'workflows_queue',
  title: 'Declare a queue',
  doc: 'How many runs of a queue may be under way at once, in all, by key, by starter; how many may begin in a time; who executes them.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      name: queueName(),
      concurrency: z.int().min(1).max(RUNS_MAX).nullish(),
      per_key: z.int().min(1).max(RUNS_MAX).nullish(),
      per_agent: z.int().min(1).max(RUNS_MAX).nullish(),
      rate: z
        .strictObject({
          limit: z.int().min(1).max(RATE_LIST_MAX),
          per_ms: z.int().min(1).max(SLEEP_MS_MAX),
        })
        .nullish(),
      executors: z.array(agentId()).max(QUEUE_EXECUTORS_LIST_MAX).default([]),
      remove: z.boolean().default(false).describe('take it away; its runs must be over'),
    }),
  output: () => queueView().extend({ removed: z.boolean() }),
});

export const workflowsQueues = operation({
  id: 'workflows.queues',
  name: 'workflows_queues',
  title: 'List queues',
  doc: 'The queues of this space and how many runs each has under way.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({}),
  output: () => z.object({ queues: z.array(queueView()) }),
});

export const workflowsTake = operation({
  id: 'workflows.take',
  name: 'workflows_take',
  title: 'Take runs',
  doc: 'For an executor: runs of these workflows that are ready, under a lease and a new epoch, with their journals; and news of those it holds.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      workflows: z
        .array(z.strictObject({ name: workflowName(), version: version().optional() }))
        .min(1)
        .max(WORKFLOWS_LIST_MAX),
      executor: executor(),
      limit: z.int().min(0).max(TAKE_LIST_MAX).default(1).describe('0: news alone'),
      lease_ms: leaseMs(),
      wait_ms: waitMs().default(0),
      holding: z
        .array(
          z.strictObject({
            ...{ id: runId(), epoch: epoch(), news: z.int().min(0) },
            after: z
              .string()
              .max(512)
              .optional()
              .describe('resolved_next of it, when that is not null'),
          }),
        )
        .max(HELD_RUNS_LIST_MAX)
        .default([])
        .describe('runs you hold, with the number of news you have heard of each'),
    }),
  output: () =>
    z.object({
      runs: z.array(
        z.object({
          run: runView(),
          epoch: z.int(),
          news: z.int(),
          journal: z.array(stepView()),
          journal_next: z.string().nullable().describe('more: workflows.steps with this as after'),
          resolved: z.array(resolvedView()),
          resolved_next: resolvedNext(),
        }),
      ),
      news: z.array(newsView()),
    }),
});

export const workflowsRecord = operation({
  id: 'workflows.record',
  name: 'workflows_record',
  title: 'Record what a run did',
  doc: 'For its executor: what became of steps, all of it or nothing. Renews the lease; a stale epoch is refused.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      id: runId(),
      epoch: epoch(),
      entries: z.array(entry()).min(1).max(ENTRIES_LIST_MAX),
      lease_ms: leaseMs(),
    }),
  output: () =>
    z.object({
      id: z.string(),
      news: z.int(),
      cancelling: z.string().nullable(),
    }),
});

export const workflowsRenew = operation({
  id: 'workflows.renew',
  name: 'workflows_renew',
  title: 'Renew leases of runs',
  doc: 'For an executor: it lives and is at work on these runs.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      executor: executor().optional(),
      runs: z
        .array(z.strictObject({ id: runId(), epoch: epoch() }))
        .min(1)
        .max(HELD_RUNS_LIST_MAX),
      lease_ms: leaseMs(),
    }),
  output: () =>
    z.object({
      runs: z.array(
        z.object({
          id: z.string(),
          ok: z.boolean(),
          news: z.int(),
          cancelling: z.string().nullable(),
        }),
      ),
    }),
});
