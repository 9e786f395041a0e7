/** Talking: send, drain, subscribe, list, replay. The SOX verbs, with what Synod adds marked optional. */
import { z } from 'zod';
import {
  DRAIN_MESSAGES_MAX,
  IDEMPOTENCY_KEY_CHARS_MAX,
  LEASE_MS_MAX,
  LEASE_MS_MIN,
  REPLAY_MESSAGES_MAX,
} from '../../core/law/limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import {
  agentId,
  backpressureMode,
  channelName,
  correlationId,
  idempotencyKey,
  jsonObject,
  messageEnvelope,
  messageIdText,
  messageRetention,
  presenceState,
  replayPolicy,
  seconds,
} from '../schemas.ts';
import { markNotice } from './threads.ts';

export const WAIT_MS_MAX = 300_000;
export const TTL_MS_MAX = 30 * 86_400_000;

export const send = operation({
  id: 'channels.send',
  name: 'send',
  title: 'Send a message',
  doc: 'Send a JSON object to a channel. Returns once stored, not read.',
  access: 'writer',
  toolset: 'core',
  hints: ADDS,
  input: () =>
    z.strictObject({
      channel: channelName().describe('ticket:42, dm/<a>~<b> (names sorted), group/<id>'),
      body: jsonObject(),
      correlation_id: correlationId().nullish(),
      reply_to: messageIdText().nullish().describe('message_id this answers'),
      // What each is for is said where it is needed: by the refusal that asks for it.
      quote: z.boolean().optional(),
      reopen: z.boolean().optional(),
      idempotency_key: z
        .string()
        .max(IDEMPOTENCY_KEY_CHARS_MAX)
        .nullish()
        .describe('repeats are stored once'),
      ttl_ms: z.int().min(1).max(TTL_MS_MAX).nullish().describe('unread after this: expired'),
    }),
  output: () =>
    z.object({
      sent_at: seconds(),
      message_id: z.string(),
      seq: z.int().min(1),
      backpressure: z.object({
        queue_depth: z.int().min(0),
        threshold: z.int().min(1),
        state: z.enum(['ok', 'warn', 'over']),
      }),
      // Where SOX lets an answer say more.
      metadata: z
        .object({
          repeated: z.literal(true).optional().describe('the answer is of the first message'),
          body_differs: z.boolean().optional().describe('this body was another, and is not stored'),
          gate_id: z.string().optional().describe('held until a person decides this gate'),
        })
        .optional(),
    }),
});

export const recv = operation({
  id: 'channels.recv',
  name: 'recv',
  title: 'Drain the inbox',
  doc: 'Take what you are owed, each message once, oldest first. wait_ms waits; lease_ms brings it back unless acked.',
  access: 'writer',
  toolset: 'core',
  hints: { ...REMOVES, idempotentHint: false },
  input: () =>
    z.strictObject({
      channels: z.array(channelName()).max(1000).nullish().describe('exact names; default all'),
      max_messages: z.int().min(1).max(DRAIN_MESSAGES_MAX).default(50),
      thread_depth: z.int().min(-1).default(0).describe('ancestors; -1 all'),
      include_meta: z.boolean().default(true),
      wait_ms: z.int().min(0).max(WAIT_MS_MAX).optional(),
      lease_ms: z.int().min(LEASE_MS_MIN).max(LEASE_MS_MAX).optional(),
      // Told without words, for which the core tools have no room: a wait ends with a mark, too [TM15].
      marks: z.boolean().optional(),
    }),
  output: () =>
    z.object({
      drained_at: seconds(),
      messages: z.array(messageEnvelope()),
      lease_until: seconds().optional(),
      marks: z.array(markNotice()).optional().describe('of threads: those that ended the wait'),
    }),
});

export const subscribe = operation({
  id: 'channels.subscribe',
  name: 'subscribe',
  title: 'Subscribe',
  doc: 'Subscribe to a channel by name or glob (team/*). Durable. You are owed what is sent from now on.',
  access: 'writer',
  toolset: 'core',
  hints: SETS,
  input: () => z.strictObject({ pattern: channelName() }),
  output: () => z.object({ subscribed: z.array(z.string()) }),
});

export const unsubscribe = operation({
  id: 'channels.unsubscribe',
  name: 'unsubscribe',
  title: 'Unsubscribe',
  doc: 'Drop subscriptions by name or glob; what they alone brought and you have not read is discarded.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.preprocess(
      // SOX's own MCP tool says `patterns`; both names mean the same list.
      (value) => {
        if (typeof value !== 'object' || value === null || !('patterns' in value)) return value;
        const { patterns, ...rest } = value;
        return 'channels' in rest ? value : { ...rest, channels: patterns };
      },
      z.strictObject({ channels: z.array(channelName()).min(1).max(1000) }),
    ),
  output: () => z.object({ unsubscribed: z.array(z.string()), pending_cleared: z.int().min(0) }),
});

export const listChannels = operation({
  id: 'channels.list_channels',
  name: 'list_channels',
  title: 'List channels',
  doc: 'Channels you may see that have a subscriber or a recent message, and the protocol version.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      details: z.boolean().default(false).describe('also what each is for, and what you are owed'),
      channel: channelName().optional().describe('this one alone, with everything said of it'),
    }),
  output: () =>
    z.object({
      channels: z.array(
        z.object({
          name: z.string(),
          subscriber_count: z.int().min(0),
          title: z.string().nullish(),
          description: z.string().nullish().describe('how it begins; of one channel all of it'),
          standing: z.boolean().optional(),
          types: z.array(z.string()).optional().describe('the types a post may have; none: any'),
          tiers: z.array(z.int()).optional().describe('the tiers a post may have'),
          post_schema: jsonObject().nullish().describe('of one channel'),
          last_activity: seconds().nullish().describe('of the last message'),
          owed: z.int().min(0).optional().describe('messages you are owed there'),
          subscribed: z.boolean().optional(),
        }),
      ),
      _sox_protocol: z.object({
        server_version: z.string(),
        supported_versions: z.array(z.string()).min(1),
        min_client_version: z.string(),
      }),
    }),
});

export const listAgents = operation({
  id: 'channels.list_agents',
  name: 'list_agents',
  title: 'List agents',
  doc: 'Who is here: presence state and last heartbeat (nanoseconds; 0 = never).',
  access: 'reader',
  toolset: 'core',
  hints: READS,
  input: () =>
    z.strictObject({
      status_filter: z
        .array(presenceState())
        .min(1)
        .refine((states) => new Set(states).size === states.length, {
          error: 'items must be unique',
        })
        .optional(),
      namespace: z.string().min(1).max(128).optional(),
    }),
  output: () =>
    z.object({
      agents: z.array(
        z.object({
          agent_id: agentId(),
          presence_state: presenceState(),
          last_heartbeat_at: z.number().min(0),
          namespace: z.string().nullable(),
        }),
      ),
    }),
});

export const heartbeat = operation({
  id: 'channels.heartbeat',
  name: 'channels_heartbeat',
  title: 'Report presence',
  doc: 'Say that you are online, busy or offline; repeat every 10 s or you turn stale after ttl (30 s).',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      status: z.enum(['online', 'busy', 'offline']),
      ttl: z.int().min(1).max(86_400).nullish().describe('seconds'),
    }),
  output: () =>
    z.object({
      agent_id: z.string(),
      status: z.string(),
      recorded_at: seconds(),
      expires_at: seconds(),
    }),
});

export const replay = operation({
  id: 'channels.replay',
  name: 'replay',
  title: 'Replay history',
  doc: 'Read a channel again from seq `since` (inclusive). Takes nothing from any inbox.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      channel: channelName(),
      since: z.int().min(0).default(0),
      limit: z.int().min(1).max(REPLAY_MESSAGES_MAX).default(100),
      until: z.int().min(1).nullish(),
    }),
  output: () => z.object({ messages: z.array(messageEnvelope()), has_more: z.boolean() }),
});

export const configure = operation({
  id: 'channels.configure',
  name: 'channels_configure',
  title: 'Configure a channel',
  doc: 'Set a channel’s body schema, replay policy and backpressure. Null clears a setting.',
  access: 'admin',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      channel: channelName(),
      schema: jsonObject().nullish().describe('JSON Schema 2020-12 for bodies'),
      replay_policy: replayPolicy().optional(),
      replay_allow: z.array(z.string().min(1).max(256)).max(1000).optional(),
      backpressure_mode: backpressureMode().nullish(),
      queue_limit: z.int().min(1).max(10_000_000).nullish(),
      message_retention_ms: messageRetention().describe('instead of the space’s; null follows it'),
      gate_tier2: z
        .boolean()
        .optional()
        .describe('a body with tier 2 waits for a person, and so does the turn that sent it'),
    }),
  output: () =>
    z.object({
      channel: z.string(),
      schema: jsonObject().nullable(),
      replay_policy: replayPolicy(),
      replay_allow: z.array(z.string()),
      backpressure_mode: backpressureMode().nullable(),
      queue_limit: z.int().nullable(),
      message_retention_ms: z.int().nullable(),
      gate_tier2: z.boolean(),
    }),
});

export const retire = operation({
  id: 'channels.retire',
  name: 'retire',
  title: 'Retire a channel',
  doc: 'Take an idle channel away; its messages stay in the log and its name is free. Refused while somebody counts on it.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      channel: channelName(),
      force: z.boolean().default(false).describe('for a person or an administrator'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ channel: z.string(), retired: z.boolean(), messages: z.int().min(0) }),
});
