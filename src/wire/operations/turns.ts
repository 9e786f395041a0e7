/** Managed agents and their turns: who is run, why, by whom, and what came of it. */
import { z } from 'zod';
import {
  MESSAGES_PER_TURN_MAX,
  TURN_NOTE_CHARS_MAX,
  TURN_OUTPUT_CHARS_MAX,
  TURN_TOOLS_LIST_MAX,
  TURN_WORD_CHARS_MAX,
  WAKE_PATTERN_CHARS_MAX,
  WAKE_PATTERNS_LIST_MAX,
} from '../../core/turns/turn-limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import {
  agentId,
  idempotencyKey,
  jsonObject,
  principalKind,
  seconds,
  trustTier,
} from '../schemas.ts';
import { shape } from '../shape.ts';

const DAY_MS = 86_400_000;
const turnId = shape(() => z.string().min(1).max(32));
const epoch = shape(() => z.int().min(1).describe('the number that the turn was taken with'));
const word = shape(() => z.string().max(TURN_WORD_CHARS_MAX));
const patterns = shape(() =>
  z.array(z.string().min(1).max(WAKE_PATTERN_CHARS_MAX)).max(WAKE_PATTERNS_LIST_MAX),
);
const leaseMs = shape(() => z.int().min(1_000).max(DAY_MS));
const page = shape(() => ({
  after: z.string().max(256).optional(),
  limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
}));

const agentState = shape(() => z.enum(['asleep', 'waking', 'busy', 'failed', 'parked', 'paused']));
const turnState = shape(() =>
  z.enum([
    ...['waking', 'busy', 'failed', 'done', 'nothing', 'gave_up', 'dead', 'cancelled', 'passed'],
  ] as const),
);

const wake = shape(() =>
  z.strictObject({
    channels: patterns().nullish().describe('names or globs; else any'),
    from: patterns().nullish().describe('names or globs of senders; else anybody'),
    kinds: z.array(principalKind()).max(4).nullish(),
    min_tier: trustTier().nullish(),
  }),
);

const cost = shape(() =>
  z.object({
    usd: z.number().min(0).optional(),
    tokens_in: z.number().min(0).optional(),
    tokens_out: z.number().min(0).optional(),
  }),
);

const costView = shape(() =>
  z.object({ usd: z.number(), tokens_in: z.number(), tokens_out: z.number() }),
);

const managedView = shape(() =>
  z.object({
    agent_id: z.string(),
    runner: jsonObject(),
    wake: z.object({
      channels: z.array(z.string()).nullable(),
      from: z.array(z.string()).nullable(),
      kinds: z.array(principalKind()).nullable(),
      min_tier: trustTier().nullable(),
    }),
    limits: z.record(z.string(), z.number().nullable()).describe('with what holds by default'),
    session: z.enum(['resume', 'fresh']),
    tools: z
      .array(z.string())
      .nullable()
      .describe('what its turns may use; null: all that agents may'),
    state: agentState(),
    since: seconds(),
    reason: z.string().nullable().describe('why it is parked, paused or waits'),
    turn_id: z.string().nullable().describe('the turn that has not ended'),
    next_look_at: seconds().nullable(),
    pending: z.int().describe('messages that may wake it and wait for a turn'),
    turns: z.int(),
    cost: costView().describe('so far'),
    day: z
      .object({ turns: z.int(), wall_ms: z.number(), usd: z.number(), tokens: z.number() })
      .describe(
        'of the last 24 hours: what turns_per_day, day_wall_ms, day_usd and day_tokens bound',
      ),
    session_ref: z.string().nullable(),
    managed_at: seconds(),
    managed_by: z.string(),
  }),
);

const turnView = shape(() =>
  z.object({
    turn_id: z.string(),
    agent_id: z.string(),
    state: turnState(),
    reason: z.object({
      rule: z.string(),
      message_ids: z.array(z.string()),
      senders: z.array(z.string()),
      channels: z.array(z.string()),
    }),
    runner: z.string().describe('its kind'),
    epoch: z.int(),
    attempt: z.int(),
    failures: z.int(),
    after_restart: z.boolean(),
    due_at: seconds(),
    taken_at: seconds().nullable(),
    taken_by: z.string().nullable(),
    lease_until: seconds().nullable(),
    retry_at: seconds().nullable(),
    ended_at: seconds().nullable(),
    sends: z.int(),
    pid: z.int().nullable(),
    transcript: z.string().nullable().describe('where it is'),
    note: z.string().nullable(),
    cost: costView(),
    fruitless: z.boolean().describe('it ended well and read nothing of what it was given'),
    traceparent: z.string().nullable().describe('the trace it belongs to'),
  }),
);

const given = shape(() =>
  z.object({
    message_id: z.string(),
    channel: z.string(),
    sender: z.string(),
    kind: z.string(),
    trust: z.string(),
    body: jsonObject(),
    sent_at: seconds(),
    reply_to: z.string().nullable(),
  }),
);

export const agentsManage = operation({
  id: 'agents.manage',
  name: 'agents_manage',
  title: 'Manage an agent',
  doc: 'See to the turns of an agent: how it is run, what wakes it, and within which limits.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      agent_id: agentId(),
      runner: z
        .union([z.string().max(64), jsonObject()])
        .describe(
          'a kind and its fields (what starts programs: the owner alone), or the name of a configured runner',
        ),
      wake: wake().nullish(),
      limits: z
        .record(z.string(), z.unknown())
        .nullish()
        .describe('by name; see docs/reference/limits.md'),
      session: z.enum(['resume', 'fresh']).default('resume'),
      tools: z
        .array(z.string().min(1).max(64))
        .max(TURN_TOOLS_LIST_MAX)
        .nullish()
        .describe('operations that a turn may use, besides asking people; omitted: all for agents'),
    }),
  output: () => managedView(),
});

export const agentsUnmanage = operation({
  id: 'agents.unmanage',
  name: 'agents_unmanage',
  title: 'Manage an agent no more',
  doc: 'Leave an agent to itself; a turn that runs is ended.',
  access: 'person',
  toolset: 'admin',
  hints: REMOVES,
  input: () => z.strictObject({ agent_id: agentId(), idempotency_key: idempotencyKey() }),
  output: () => z.object({ agent_id: z.string(), unmanaged: z.literal(true) }),
});

export const agentsManaged = operation({
  id: 'agents.managed',
  name: 'agents_managed',
  title: 'List managed agents',
  doc: 'Managed agents with state, limits and cost; an agent sees itself.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ state: agentState().optional(), ...page() }),
  output: () => z.object({ agents: z.array(managedView()), next: z.string().nullable() }),
});

export const turnsList = operation({
  id: 'turns.list',
  name: 'turns_list',
  title: 'List turns',
  doc: 'Turns, the newest first: why each began, what it cost, what came of it. An agent sees its own.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({ agent_id: agentId().optional(), state: turnState().optional(), ...page() }),
  output: () => z.object({ turns: z.array(turnView()), next: z.string().nullable() }),
});

export const turnsGet = operation({
  id: 'turns.get',
  name: 'turns_get',
  title: 'One turn',
  doc: 'A turn: its reason, runner, times, cost, outcome, and what it said last, also while it runs.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ turn_id: turnId() }),
  output: () =>
    turnView().extend({
      output: z
        .array(z.object({ at: seconds(), from: z.enum(['out', 'err', 'note']), text: z.string() }))
        .describe('the last lines of its transcript'),
    }),
});

export const turnsCancel = operation({
  id: 'turns.cancel',
  name: 'turns_cancel',
  title: 'Cancel a turn',
  doc: 'End a turn; its messages stay in the inbox and begin no other turn.',
  access: 'person',
  toolset: 'admin',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      turn_id: turnId(),
      reason: word().nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => turnView(),
});

export const turnsRetry = operation({
  id: 'turns.retry',
  name: 'turns_retry',
  title: 'Try a turn again',
  doc: 'A turn that is dead, gave up, was cancelled or waits after a failure: its messages begin a turn now.',
  access: 'person',
  toolset: 'admin',
  hints: ADDS,
  input: () => z.strictObject({ turn_id: turnId(), idempotency_key: idempotencyKey() }),
  output: () => turnView(),
});

const whom = shape(() => ({
  agent_id: agentId().optional(),
  all: z.boolean().optional().describe('every managed agent'),
}));

export const turnsPause = operation({
  id: 'turns.pause',
  name: 'turns_pause',
  title: 'Pause agents',
  doc: 'Begin no turns of an agent, or of all; a turn that runs is ended and begins again after the pause.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject({ ...whom(), reason: word().nullish() }),
  output: () => z.object({ paused: z.array(z.string()) }),
});

export const turnsResume = operation({
  id: 'turns.resume',
  name: 'turns_resume',
  title: 'Resume agents',
  doc: 'Begin turns again of an agent that is paused or parked, or of all.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject(whom()),
  output: () => z.object({ resumed: z.array(z.string()) }),
});

export const turnsTake = operation({
  id: 'turns.take',
  name: 'turns_take',
  title: 'Take a turn',
  doc: 'For a supervisor: the turn that is due longest, with its messages and a token for it; null when none is.',
  access: 'admin',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      agents: z
        .array(agentId())
        .min(1)
        .max(1_000)
        .optional()
        .describe('omitted: all with runner outside'),
      wait_ms: z.int().min(0).max(60_000).optional(),
      lease_ms: leaseMs()
        .optional()
        .describe('renew it before; omitted: 10 s to begin, then turn_timeout_ms'),
    }),
  output: () =>
    z.object({
      turn: turnView().nullable(),
      messages: z.array(given()).max(MESSAGES_PER_TURN_MAX),
      token: z.string().nullable().describe('what the turn runs with; it dies with the turn'),
      runner: jsonObject().nullable(),
      session_ref: z.string().nullable(),
    }),
});

export const turnsRenew = operation({
  id: 'turns.renew',
  name: 'turns_renew',
  title: 'Renew a turn',
  doc: 'The turn runs and was heard of: its lease begins again.',
  access: 'admin',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      turn_id: turnId(),
      epoch: epoch(),
      lease_ms: leaseMs().optional(),
      pid: z.int().min(1).nullish(),
      transcript: word().nullish(),
      cost: cost().nullish().describe('of this attempt, so far'),
    }),
  output: () => turnView(),
});

export const turnsFinish = operation({
  id: 'turns.finish',
  name: 'turns_finish',
  title: 'Finish a turn',
  doc: 'Say how a turn ended. A failed one is tried again, at most three times.',
  access: 'admin',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      turn_id: turnId(),
      epoch: epoch(),
      outcome: z.enum(['done', 'failed', 'gave_up', 'nothing']),
      output: z.string().max(TURN_OUTPUT_CHARS_MAX).nullish().describe('what it said; not kept'),
      note: z.string().max(TURN_NOTE_CHARS_MAX).nullish(),
      session_ref: word().nullish(),
      cost: cost().nullish().describe('of this attempt'),
      consumed: z
        .union([z.literal('all'), z.array(z.string().max(64)).max(MESSAGES_PER_TURN_MAX)])
        .optional()
        .describe('ids of given messages that it has read; omitted: none'),
      quota: z
        .strictObject({ kind: z.enum(['exhausted', 'overloaded']), until: seconds().nullish() })
        .nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => turnView(),
});
