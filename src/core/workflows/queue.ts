/** Queues: how many runs of one may be under way at once, in all, by key and by starter, and how many may begin in a time [WF11]. */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { isAgentName } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { checkCount, checkName, checkWhole, invalid } from './run-check.ts';
import type { DeclareQueue, QueueDeclared } from './run-events.ts';
import type { QueueFields } from './run-state.ts';
import { noQueue } from './start.ts';
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
    (fields === null ? checkUnused(world, name) : checkFields(fields));
  if (unfit !== null) return unfit;
  const known = queues.get(name);
  if (known === undefined && queues.size >= QUEUES_MAX) return refuseFull('QUEUES_MAX', QUEUES_MAX);
  const isSame = fields !== null && known !== undefined && isAlike(known, fields);
  if (isSame) return { events: [], answer: { name } };
  return {
    events: [{ type: 'queue.declared', at, by: by.id, name, fields }],
    answer: { name },
  };
}

/** What waits in it would wait in none. */
function checkUnused({ workflows }: WorldView, name: string): Refusal | null {
  if (!workflows.queues.has(name)) return noQueue(name);
  for (const { id, queue } of workflows.live.values()) {
    if (queue !== name) continue;
    return refuse('workflow.queue-in-use', `${id} is in ${name}: end its runs first`, {
      ...{ queue: name, id },
    });
  }
  return null;
}

function checkFields(fields: QueueFields): Refusal | null {
  const { rate, executors } = fields;
  return (
    checkMost('concurrency', fields.concurrency) ??
    checkMost('per_key', fields.perKey) ??
    checkMost('per_agent', fields.perAgent) ??
    (rate === null ? null : checkWhole('rate.limit', rate.limit, 1, RATE_LIST_MAX)) ??
    (rate === null ? null : checkWhole('rate.per_ms', rate.perMs, 1, SLEEP_MS_MAX)) ??
    checkCount('executors', executors.length, 0, QUEUE_EXECUTORS_LIST_MAX) ??
    (executors.every(isAgentName) ? null : invalid('executors', 'are names of agents'))
  );
}

function checkMost(field: string, most: number | null): Refusal | null {
  return most === null ? null : checkWhole(field, most, 1, RUNS_MAX);
}

function isAlike(known: QueueFields, fields: QueueFields): boolean {
  const { concurrency, perKey, perAgent, rate, executors } = known;
  const before = { concurrency, perKey, perAgent, rate, executors };
  return JSON.stringify(before) === JSON.stringify({ ...before, ...fields });
}
