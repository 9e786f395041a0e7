/**
 * The exact outputs of the fifteen operations and of a refusal.
 *
 * Every answer of every step at every door is held to these shapes, whatever
 * the step expects besides: required fields present, types right, and no field
 * that SOX does not name.
 */

import { z } from 'zod';

import type { Operation } from './story.ts';

const text = z.string().min(1);
const count = z.number().int().min(0);
/** Nanoseconds pass 2^53, so an integer here may be rounded but never a fraction. */
const nanoseconds = z.number().min(0).refine(Number.isInteger);
const seconds = z.number().positive();
const wholeSeconds = z.number().int().positive();

/** Here, and nowhere else in a drained message, a server may say more. */
const meta = z.looseObject({
  trace_id: text,
  middleware_timings: z.array(z.string()),
  server_node_id: text,
});

const envelope = z.strictObject({
  channel: text,
  sender: text,
  body: z.record(z.string(), z.unknown()),
  sent_at: seconds,
  message_id: text,
  seq: z.number().int().min(1),
  correlation_id: z.string().max(128).nullish(),
  ts: nanoseconds.nullish(),
  reply_to: z.string().nullish(),
  delivered_to: z.array(text).nullish(),
  origin_server: z.null().optional(),
  ancestors: z.array(z.record(z.string(), z.unknown())).nullish(),
  _meta: meta.nullish(),
});

const presence = z.enum(['online', 'busy', 'stale', 'offline']);
const ackStatus = z.enum(['received', 'processing', 'done', 'nack']);

const OUTPUTS: Readonly<Record<Operation, z.ZodType>> = {
  send: z.strictObject({
    sent_at: seconds,
    message_id: text,
    seq: z.number().int().min(1),
    backpressure: z.strictObject({
      queue_depth: count,
      threshold: z.number().int().min(1),
      state: z.enum(['ok', 'warn', 'over']),
    }),
    // Of a send and a recv the tools' schemas allow it, and leave open what is in it.
    metadata: z.looseObject({}).optional(),
  }),
  recv: z.strictObject({ drained_at: seconds, messages: z.array(envelope) }),
  subscribe: z.strictObject({ subscribed: z.array(text) }),
  unsubscribe: z.strictObject({ unsubscribed: z.array(text), pending_cleared: count }),
  list_channels: z.strictObject({
    channels: z.array(z.strictObject({ name: text, subscriber_count: count })),
    _sox_protocol: z.strictObject({
      server_version: text,
      supported_versions: z.array(text).min(1),
      min_client_version: text,
    }),
  }),
  list_agents: z.strictObject({
    agents: z.array(
      z.strictObject({
        agent_id: text,
        presence_state: presence,
        last_heartbeat_at: nanoseconds,
        namespace: z.string().nullish(),
      }),
    ),
  }),
  channels_ack: z.strictObject({ message_id: text, status: ackStatus, acked_at: seconds }),
  channels_heartbeat: z.strictObject({
    agent_id: text,
    status: presence.exclude(['stale']),
    recorded_at: seconds,
    expires_at: seconds,
  }),
  // SOX lets replayed items carry more than received ones; their named fields keep their types.
  replay: z.strictObject({
    messages: z.array(z.looseObject(envelope.shape)),
    has_more: z.boolean(),
  }),
  channels_collect: z.strictObject({
    received: z.array(
      z.strictObject({ agent_id: text, message_id: text, status: ackStatus, acked_at: seconds }),
    ),
    missing: z.array(text),
    timed_out: z.boolean(),
  }),
  group_create: z.strictObject({ group_id: text, created_at: wholeSeconds }),
  group_invite: z.strictObject({
    invited: z.boolean(),
    agent_id: text,
    invited_at: wholeSeconds,
  }),
  group_join: z.strictObject({
    joined: z.boolean(),
    group_id: text,
    member_count: z.number().int().min(1),
    joined_at: wholeSeconds,
  }),
  group_leave: z.strictObject({ left: z.boolean(), group_id: text, left_at: wholeSeconds }),
  group_list_members: z.strictObject({
    group_id: text,
    members: z.array(
      z.strictObject({
        agent_id: text,
        status: z.enum(['active', 'invited']),
        joined_at: z.number().int(),
        presence_state: z.string().nullish(),
      }),
    ),
  }),
};

const refusal = z.strictObject({
  error_code: z.enum([
    'identity_failure',
    'channel_not_found',
    'subscription_not_found',
    'validation_error',
    'rate_limited',
    'store_unavailable',
    'version_mismatch',
    'backpressure_over_limit',
    'internal_error',
  ]),
  message: text,
  detail: z.record(z.string(), z.unknown()).nullish(),
  retry_after: z.number().nullish(),
});

/** The faults in the shape of an answer; none means it is exactly what SOX allows. */
export function shapeFaults(op: Operation, isError: boolean, output: unknown): readonly string[] {
  const read = (isError ? refusal : OUTPUTS[op]).safeParse(output);
  if (read.success) return [];
  return read.error.issues.map(
    (issue) => `${op} ${isError ? 'refusal' : 'output'} ${issue.path.join('.')}: ${issue.message}`,
  );
}
