/** Runs of workflows: the input becomes a command, the run that it left is the answer. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { BODY_DEPTH_MAX } from '../../../core/law/limits.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { utf8Bytes } from '../../../core/law/text.ts';
import { readTraceparent } from '../../../core/law/traceparent.ts';
import type { View } from '../../../core/law/view.ts';
import { parseMessageId } from '../../../core/talk/message-id.ts';
import { mayRead, noRun } from '../../../core/workflows/access.ts';
import { dedupKey } from '../../../core/workflows/run-book.ts';
import type { RunEntry, WaitAsked } from '../../../core/workflows/run-events.ts';
import { runsPage, stepsPage } from '../../../core/workflows/run-pages.ts';
import { findRun, type Queue, type RunView, type Wait } from '../../../core/workflows/run-state.ts';
import { RESULT_BYTES_MAX } from '../../../core/workflows/workflow-limits.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type {
  workflowsFork,
  workflowsQueues,
  workflowsRecord,
  workflowsStart,
} from '../../../wire/operations/workflows.ts';
import { idempotencyOf } from '../idempotency.ts';
import { checkStanding } from '../identity.ts';
import { checkVersion, createExplainer } from '../offers.ts';
import type { Handlers, Room } from '../room.ts';
import { factsOf, headOf, type RunFacts, type RunOut, runOut, stepsOut } from '../run-view.ts';
import { takeRuns } from '../take-runs.ts';

export const workflowHandlers: Handlers<
  | 'workflows.start'
  | 'workflows.get'
  | 'workflows.wait'
  | 'workflows.list'
  | 'workflows.steps'
  | 'workflows.signal'
  | 'workflows.cancel'
  | 'workflows.retry'
  | 'workflows.fork'
  | 'workflows.answer'
  | 'workflows.queue'
  | 'workflows.queues'
  | 'workflows.take'
  | 'workflows.record'
  | 'workflows.renew'
> = {
  async 'workflows.start'(room, input) {
    const { hub, by } = room;
    const text = carried('input', input.input);
    if (isRefusal(text)) return text;
    const unknown = await hub.ask((world) => checkOffered(room, world, input));
    if (unknown !== null) return unknown;
    const { parent } = input;
    const answer = await hub.submit({
      ...{ type: 'run.start', by, at: hub.stamp(), id: input.id ?? null, name: input.name },
      ...{ version: input.version ?? null, input: input.input, digest: digestOf(room, text) },
      ...{ queue: input.queue ?? null, key: input.key ?? null, priority: input.priority },
      ...{ delayMs: input.delay_ms, dedup: input.dedup ?? null, steps: input.steps },
      parent: parent === undefined ? null : { ...parent, key: parent.key ?? null },
      // That of the call, where the input says none [TL10].
      traceparent: readTraceparent(input.traceparent) ?? room.trace,
      idempotency: idempotencyOf(room.platform, input),
    });
    if (isRefusal(answer)) return answer;
    const run = await runOf(room, answer.id);
    return isRefusal(run) ? run : { ...run, existing: !answer.isNew };
  },

  'workflows.get': (room, { id }) => runOf(room, id),

  async 'workflows.wait'(room, { id, timeout_ms: timeoutMs }) {
    const { hub, by, platform, signal } = room;
    const until = platform.elapsedMs() + timeoutMs;
    for (;;) {
      const leftMs = Math.ceil(until - platform.elapsedMs());
      // Looked at and listened for in one go: an end that came meanwhile would wake nobody.
      const seen = await hub.ask((world) => {
        const fallen = checkStanding(world, room.caller, hub.stamp());
        const run = findRun(world.workflows, id);
        if (fallen !== null) return fallen;
        if (run === undefined || !mayRead(world.workflows, by, run)) return noRun(id);
        const isStill = run.endedAt !== null || run.state === 'stuck';
        const isLast = isStill || leftMs <= 0 || hub.watch.isEnding;
        const come = isLast || signal?.aborted ? null : hub.watch.run(id, by.id, leftMs, signal);
        return { facts: factsOf(run, createExplainer(hub, world)), come };
      });
      if (isRefusal(seen)) return seen;
      if (seen.come === null) return runOut(room, seen.facts);
      if ((await seen.come) === null) return TOO_MANY;
    }
  },

  async 'workflows.list'({ hub, by }, query) {
    return hub.ask((world) => {
      const { rows, next } = runsPage(world.workflows, by, query);
      const explain = createExplainer(hub, world);
      return { runs: rows.map((run) => headOf(run, explain)), next };
    });
  },

  async 'workflows.steps'(room, { id, after, limit }) {
    const seen = await lookAt(room, id, (run) => ({
      ...{ page: stepsPage(run, after, limit), epoch: run.epoch },
      waits: run.waits as readonly Wait[],
    }));
    if (isRefusal(seen)) return seen;
    const { page, epoch, waits } = seen;
    return stepsOut(room, { epoch }, page, waits);
  },

  async 'workflows.signal'({ hub, by, platform }, input) {
    const { id, name, value } = input;
    const text = carried('value', value);
    if (isRefusal(text)) return text;
    const answer = await hub.submit({
      ...{ type: 'run.signal', by, at: hub.stamp(), id, name, value },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : { id, name, kept: answer.isKept };
  },

  async 'workflows.cancel'(room, { id, reason = null, force: isForced }) {
    const { hub, by } = room;
    const cancel = { id, reason, isForced };
    const answer = await hub.submit({ type: 'run.cancel', by, at: hub.stamp(), ...cancel });
    return isRefusal(answer) ? answer : runOf(room, id);
  },

  async 'workflows.retry'(room, input) {
    const { hub, by, platform } = room;
    const { id, from_step: from, map = {} } = input;
    const fromStep = from === undefined ? null : { step: from.step, key: from.key ?? null };
    const answer = await hub.submit({
      ...{ type: 'run.retry', by, at: hub.stamp(), id, fromStep, map },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : runOf(room, id);
  },

  async 'workflows.fork'(room, input) {
    const { hub, by } = room;
    const text = carried('input', input.input);
    if (isRefusal(text)) return text;
    const { id, at_step: at } = input;
    const unknown = await hub.ask((world) => checkForked(room, world, input));
    if (unknown !== null) return unknown;
    const answer = await hub.submit({
      ...{ type: 'run.fork', by, at: hub.stamp(), id, newId: input.new_id ?? null },
      ...{ atStep: { step: at.step, key: at.key ?? null }, version: input.version ?? null },
      input:
        input.input === undefined ? null : { value: input.input, digest: digestOf(room, text) },
      idempotency: idempotencyOf(room.platform, input),
    });
    return isRefusal(answer) ? answer : runOf(room, answer.id);
  },

  async 'workflows.answer'(room, { id, step, key = null, answer: word }) {
    const { hub, by } = room;
    const said = { id, asked: { step, key }, answer: word };
    const answer = await hub.submit({ type: 'run.answer', by, at: hub.stamp(), ...said });
    return isRefusal(answer) ? answer : runOf(room, id);
  },

  async 'workflows.queue'({ hub, by }, input) {
    const { name, rate, executors, remove: isRemoved } = input;
    const told = {
      ...{ concurrency: input.concurrency ?? null, perKey: input.per_key ?? null },
      perAgent: input.per_agent ?? null,
      rate: rate == null ? null : { limit: rate.limit, perMs: rate.per_ms },
      executors,
    };
    const at = hub.stamp();
    const fields = isRemoved ? null : told;
    const answer = await hub.submit({ type: 'queue.declare', by, at, name, fields });
    if (isRefusal(answer)) return answer;
    return hub.ask(({ workflows }) => {
      const gone = { ...told, name, declaredBy: by.id, declaredAt: at, takenAt: [] };
      const queue = workflows.queues.get(name) ?? gone;
      const underWay = workflows.use.get(name)?.count ?? 0;
      return { ...queueView(queue, underWay), removed: isRemoved };
    });
  },

  async 'workflows.queues'({ hub }) {
    return hub.ask(({ workflows }) => ({
      queues: [...workflows.queues.values()].map((queue) =>
        queueView(queue, workflows.use.get(queue.name)?.count ?? 0),
      ),
    }));
  },

  'workflows.take': takeRuns,

  async 'workflows.record'({ hub, by }, { id, epoch, entries: said, lease_ms: leaseMs = null }) {
    const entries: RunEntry[] = [];
    for (const one of said) {
      const entry = entryOf(one);
      if (isRefusal(entry)) return entry;
      entries.push(entry);
    }
    const record = { id, epoch, entries, leaseMs };
    const answer = await hub.submit({ type: 'run.record', by, at: hub.stamp(), ...record });
    if (isRefusal(answer)) return answer;
    return { id, news: answer.news, cancelling: answer.cancelling };
  },

  async 'workflows.renew'({ hub, by }, { runs, lease_ms: leaseMs = null }) {
    const answer = await hub.submit({ type: 'run.renew', by, at: hub.stamp(), runs, leaseMs });
    if (isRefusal(answer)) return answer;
    return {
      runs: answer.map(({ id, isHeld: ok, news, cancelling }) => ({ id, ok, news, cancelling })),
    };
  },
};

const TOO_MANY = refuse('limit.reached', 'too many callers wait already; ask without waiting');

/** A new run for a version that is nowhere; one of another run waits for it [WF21]. */
function checkOffered(
  { hub, by }: Room,
  world: WorldView,
  input: ParsedInputOf<typeof workflowsStart>,
): Refusal | null {
  const { id, name, version = null, queue = null, dedup, parent } = input;
  const book = world.workflows;
  const isThere = id !== undefined && findRun(book, id) !== undefined;
  const isTwin = dedup !== undefined && book.dedups.has(dedupKey(name, dedup));
  if (isThere || isTwin || parent !== undefined) return null;
  return checkVersion(hub, world, { name, version, startedBy: by.id, queue });
}

/** As for a start; what the fork asks of the run itself is the law's. */
function checkForked(
  { hub, by }: Room,
  world: WorldView,
  { id, new_id, version: asked }: ParsedInputOf<typeof workflowsFork>,
): Refusal | null {
  const book = world.workflows;
  const run = findRun(book, id);
  const isThere = new_id !== undefined && findRun(book, new_id) !== undefined;
  if (run === undefined || isThere || !mayRead(book, by, run)) return null;
  const { name, queue } = run;
  return checkVersion(hub, world, { name, version: asked ?? null, startedBy: by.id, queue });
}

function lookAt<T>(
  { hub, by }: Room,
  id: string,
  look: (run: RunView, world: WorldView) => T,
): Promise<T | Refusal> {
  return hub.ask((world) => {
    const run = findRun(world.workflows, id);
    if (run === undefined || !mayRead(world.workflows, by, run)) return noRun(id);
    return look(run, world);
  });
}

async function runOf(room: Room, id: string): Promise<RunOut | Refusal> {
  const facts = await lookAt<RunFacts>(room, id, (run, world) =>
    factsOf(run, createExplainer(room.hub, world)),
  );
  return isRefusal(facts) ? facts : runOut(room, facts);
}

/** What a run carries, as text, or why it is not taken: the same bounds as of a body [WF2]. */
function carried(field: string, value: unknown): string | Refusal {
  if (value === undefined) return '';
  if (isDeep(value, BODY_DEPTH_MAX)) {
    return refuse('body.too-deep', `${field} nests at most ${BODY_DEPTH_MAX} levels`, {
      violations: [{ field, issue: `nested deeper than ${BODY_DEPTH_MAX} levels` }],
    });
  }
  const text = JSON.stringify(value) ?? '';
  const isSmall = text.length * 3 <= RESULT_BYTES_MAX;
  if (isSmall || utf8Bytes(text) <= RESULT_BYTES_MAX) return text;
  return refuse(
    'workflow.result-too-large',
    `${field} has more than ${RESULT_BYTES_MAX} bytes of JSON: store it elsewhere and say where`,
    { violations: [{ field, issue: 'is too large' }], max_bytes: RESULT_BYTES_MAX },
  );
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isDeep((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

const DIGEST_CHARS = 24;

function digestOf({ platform }: Room, text: string): string {
  return text === '' ? '' : platform.digest(text).slice(0, DIGEST_CHARS);
}

type Said = ParsedInputOf<typeof workflowsRecord>['entries'][number];

function entryOf(said: Said): RunEntry | Refusal {
  if ('result' in said) {
    const text = carried('result', said.result);
    if (isRefusal(text)) return text;
  }
  if (!('step' in said)) return said as RunEntry;
  const { step, key, step_kind: as, ...rest } = said;
  const ref = { step, ...(key != null && { key }), ...(as !== undefined && { as }) };
  switch (rest.kind) {
    case 'completed': {
      const { took_ms: tookMs, ...more } = rest;
      return { ...more, ...ref, ...(tookMs !== undefined && { tookMs }) } as RunEntry;
    }
    case 'failed': {
      const { retry_ms: retryMs, ...more } = rest;
      return { ...more, ...ref, ...(retryMs !== undefined && { retryMs }) };
    }
    case 'waiting': {
      const on = waitAsked(rest.on);
      if (isRefusal(on)) return on;
      const { timeout_ms: timeoutMs } = rest;
      return { kind: 'waiting', ...ref, on, ...(timeoutMs !== undefined && { timeoutMs }) };
    }
    default:
      return { ...rest, ...ref } as RunEntry;
  }
}

function waitAsked(on: Extract<Said, { readonly kind: 'waiting' }>['on']): WaitAsked | Refusal {
  if ('timer_ms' in on) return { timer: on.timer_ms };
  if ('retry_ms' in on) return { retry: on.retry_ms };
  if ('ask' in on) return { answer: on.ask };
  if (!('turn' in on) && !('collect' in on)) return on;
  const { id, count, as } =
    'turn' in on
      ? ({ id: on.turn.message_id, count: 1, as: 'turn' } as const)
      : ({ id: on.collect.message_id, count: on.collect.count, as: 'collect' } as const);
  const position = parseMessageId(id);
  if (position !== null) return { replies: position, count, as };
  const issue = 'is the id of a message';
  return refuse('input.invalid', `message_id ${issue}`, {
    violations: [{ field: 'message_id', issue }],
  });
}

function queueView(
  queue: View<Queue>,
  underWay: number,
): OutputOf<typeof workflowsQueues>['queues'][number] {
  const { rate } = queue;
  return {
    ...{ name: queue.name, concurrency: queue.concurrency, per_key: queue.perKey },
    per_agent: queue.perAgent,
    rate: rate === null ? null : { limit: rate.limit, per_ms: rate.perMs },
    ...{ executors: [...queue.executors], under_way: underWay },
    ...{ declared_by: queue.declaredBy, declared_at: queue.declaredAt / 1000 },
  };
}
