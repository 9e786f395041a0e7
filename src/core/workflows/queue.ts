/** Queues: how many runs of one may be under way at once, in all, by key and by starter, and how many may begin in a time [WF11]. */
import { type Decision, refuseFull } from '../law/decider.ts';
import { isAgentName } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { checkCount, checkName, checkWhole, invalid } from './run-check.ts';
import type { DeclareQueue, QueueDeclared } from './run-events.ts';
import type { QueueFields } from './run-state.ts';
import {
  QUEUE_EXECUTORS_LIST_MAX,
  QUEUE_NAME_CHARS_MAX,
  QUEUES_MAX,
  RATE_LIST_MAX,
  RUNS_MAX,
  SLEEP_MS_MAX,
} from './workflow-limits.ts';

export function decideQueue(
  world: WorldView,
  { by, at, name, fields }: DeclareQueue,
): Decision<QueueDeclared, { readonly name: string }> {
  const { queues } = world.workflows;
  const unfit =
    checkName('name', name, QUEUE_NAME_CHARS_MAX) ??
    checkMost('concurrency', fields.concurrency) ??
    checkMost('per_key', fields.perKey) ??
    checkMost('per_agent', fields.perAgent) ??
    (fields.rate === null ? null : checkWhole('rate.limit', fields.rate.limit, 1, RATE_LIST_MAX)) ??
    (fields.rate === null ? null : checkWhole('rate.per_ms', fields.rate.perMs, 1, SLEEP_MS_MAX)) ??
    checkCount('executors', fields.executors.length, 0, QUEUE_EXECUTORS_LIST_MAX);
  if (unfit !== null) return unfit;
  const bad = fields.executors.find((one) => !isAgentName(one));
  if (bad !== undefined) return invalid('executors', 'are names of agents');
  const known = queues.get(name);
  if (known === undefined && queues.size >= QUEUES_MAX) return refuseFull('QUEUES_MAX', QUEUES_MAX);
  if (known !== undefined && isSame(known, fields)) return { events: [], answer: { name } };
  return {
    events: [{ type: 'queue.declared', at, by: by.id, name, fields }],
    answer: { name },
  };
}

function checkMost(field: string, most: number | null) {
  return most === null ? null : checkWhole(field, most, 1, RUNS_MAX);
}

function isSame(known: QueueFields, fields: QueueFields): boolean {
  const { concurrency, perKey, perAgent, rate, executors } = known;
  const before = { concurrency, perKey, perAgent, rate, executors };
  return JSON.stringify(before) === JSON.stringify({ ...before, ...fields });
}
