/** Who is here with what evidence, and speaking to agents by name, project, role or glob. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import {
  agentId,
  correlationId,
  idempotencyKey,
  jsonObject,
  messageIdText,
  roles,
  seconds,
} from '../schemas.ts';
import { shape } from '../shape.ts';
import { TTL_MS_MAX } from './channels.ts';

export const RECIPIENTS_MAX = 256;
const state = shape(() => z.enum(['connected', 'idle', 'busy', 'blocked', 'stale', 'gone']));

export const presenceList = operation({
  id: 'presence.list',
  name: 'presence_list',
  title: 'Who is here, and how do we know',
  doc: 'Agents with their state (connected, idle, busy, blocked on a person, stale, gone), since when, and the evidence.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      state: z.array(state()).min(1).optional(),
      project: z.string().max(128).optional(),
      after: z.string().max(128).optional(),
      limit: z.int().min(1).max(500).default(100),
    }),
  output: () =>
    z.object({
      agents: z.array(
        z.object({
          agent_id: z.string(),
          project: z.string().nullable(),
          roles: z.array(z.string()),
          state: state(),
          since: seconds().nullable(),
          note: z.string().nullable(),
          evidence: z.object({
            connections: z.int(),
            last_heartbeat: seconds().nullable(),
            last_call: seconds().nullable(),
            last_operation: z.string().nullable(),
            last_hook: seconds().nullable(),
            process: z.int().nullable(),
          }),
          claims: z.int(),
          owed: z.int(),
        }),
      ),
      next: z.string().nullable(),
    }),
});

export const presenceReport = operation({
  id: 'presence.report',
  name: 'presence_report',
  title: 'Report what you are doing',
  doc: 'Say idle, busy, or blocked (waiting for a person, with the question as note); also your process id.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      state: z.enum(['idle', 'busy', 'blocked']),
      note: z.string().max(1024).nullish(),
      roles: roles().nullish().describe('administrators only'),
      process: z.int().min(1).nullish(),
      ttl: z.int().min(1).max(86_400).nullish().describe('seconds; 120, a day if blocked'),
    }),
  output: () => z.object({ agent_id: z.string(), state: state(), expires_at: seconds() }),
});

export const agentsTell = operation({
  id: 'agents.tell',
  name: 'agents_tell',
  title: 'Tell agents',
  doc: 'Send in private to a name, several, a project, role:<role>, a glob (proj/*), or all.',
  access: 'writer',
  toolset: 'core',
  hints: ADDS,
  input: () =>
    z.strictObject({
      to: z.union([z.string().min(1).max(256), z.array(z.string().min(1).max(256)).min(1).max(64)]),
      body: jsonObject(),
      reply_to: messageIdText().nullish(),
      correlation_id: correlationId().nullish(),
      ttl_ms: z.int().min(1).max(TTL_MS_MAX).nullish(),
    }),
  output: () =>
    z.object({
      recipients: z.array(z.object({ agent_id: z.string(), message_id: z.string() })),
      unmatched: z.array(z.string()),
    }),
});

export const agentsAssign = operation({
  id: 'agents.assign',
  name: 'agents_assign',
  title: 'Give an agent its roles',
  doc: 'The roles an agent is told as (role:<role>), in place of those it was given before; those of its tokens stay with them.',
  access: 'admin',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject({ agent_id: agentId(), roles: roles() }),
  output: () => z.object({ agent_id: z.string(), roles: z.array(z.string()) }),
});

export const agentsRemove = operation({
  id: 'agents.remove',
  name: 'agents_remove',
  title: 'Remove an agent',
  doc: 'Forget an agent that is gone: subscriptions, presence, roles, card, offers, groups. Refused while it is there, holds claims or has a live token.',
  access: 'admin',
  toolset: 'admin',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      agent_id: agentId(),
      force: z.boolean().default(false).describe('its claims lapse and its tokens end at once'),
      with_channels: z
        .boolean()
        .default(false)
        .describe('also retire the channels and groups it made that nobody else follows by name'),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      agent_id: z.string(),
      removed: z.boolean(),
      subscriptions: z.int().min(0),
      tokens_revoked: z.int().min(0),
      channels_retired: z.int().min(0),
    }),
});
