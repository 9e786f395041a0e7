/**
 * Shapes shared by several operations. Limits of the law are imported from the
 * core, so that each exists once. Types are inferred: here the schema is the type.
 */
import { z } from 'zod';
import {
  CHANNEL_NAME_CHARS_MAX,
  CORRELATION_ID_CHARS_MAX,
  ROLE_CHARS_MAX,
  ROLES_MAX,
} from '../core/law/limits.ts';
import { CLAIM_KEY_CHARS_MAX } from '../core/work/claim/claim-limits.ts';
import { shape } from './shape.ts';

export const channelName = shape(() => z.string().min(1).max(CHANNEL_NAME_CHARS_MAX));
export const agentId = shape(() => z.string().min(1).max(128));
/** What an agent may be told as; their alphabet is the law's. */
export const roles = shape(() => z.array(z.string().min(1).max(ROLE_CHARS_MAX)).max(ROLES_MAX));
export const messageIdText = shape(() => z.string().min(1).max(64));
export const correlationId = shape(() => z.string().max(CORRELATION_ID_CHARS_MAX));
export const seconds = shape(() => z.number().describe('Unix seconds'));

/** What is asked again under it after a break is done once and answered as before [CM12]. */
export const idempotencyKey = shape(() => z.string().min(1).max(CLAIM_KEY_CHARS_MAX).nullish());

/** Any JSON object. Its depth and size are looked at where it is carried out. */
export const jsonObject = shape(() =>
  z
    .custom<Record<string, unknown>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      { error: 'expected a JSON object' },
    )
    .meta({ type: 'object' }),
);

export const ackStatus = shape(() => z.enum(['received', 'processing', 'done', 'nack']));
export const presenceState = shape(() => z.enum(['online', 'busy', 'stale', 'offline']));
export const receiptState = shape(() =>
  z.enum(['accepted', 'presented', 'consumed', 'acted', 'held', 'refused', 'expired', 'dead']),
);
export const replayPolicy = shape(() => z.enum(['subscriber', 'admin_only', 'custom']));
export const backpressureMode = shape(() => z.enum(['advisory', 'enforced']));
export const principalKind = shape(() => z.enum(['agent', 'human', 'observer', 'admin']));
export const trustTier = shape(() => z.enum(['owner', 'trusted', 'standard', 'untrusted']));
export const messageRetention = shape(() =>
  z
    .int()
    .min(1)
    .max(100 * 365 * 86_400_000)
    .nullish(),
);
export const spaceName = shape(() => z.string().regex(/^[a-z0-9_-]{1,64}$/));

/** A drain says it in `_meta`, where SOX's envelope has room for it. */
const standing = shape(() => ({
  standing: z.string().nullish().describe('kind/trust of the sender, or of the actor'),
  actor: z.string().optional().describe('whose act the hub tells of'),
  traceparent: z.string().optional().describe('the trace it was said in'),
}));

/** A message as every door shows it. */
export const messageEnvelope = shape(() =>
  z.object({
    channel: z.string().min(1),
    sender: z.string().min(1),
    ...standing(),
    body: jsonObject(),
    sent_at: seconds(),
    message_id: z.string().min(1),
    seq: z.int().min(1),
    correlation_id: z.string().nullish(),
    ts: z.number().nullish(),
    reply_to: z.string().nullish(),
    delivered_to: z.array(z.string()).nullish(),
    origin_server: z.string().nullish(),
    ancestors: z.array(jsonObject()).nullish(),
    dropped: z.literal(true).optional().describe('too old: the body was dropped and is empty'),
    _meta: z
      .object({
        trace_id: z.string(),
        middleware_timings: z.array(z.string()),
        server_node_id: z.string(),
        ...standing(),
      })
      .nullish(),
  }),
);

export type MessageEnvelope = z.output<ReturnType<typeof messageEnvelope>>;

export const claimStatus = shape(() =>
  z.enum(['claimed', 'working', 'input_required', 'done', 'failed']),
);

/** A claim as every door shows it. */
export const claimView = shape(() =>
  z.object({
    task_id: z.string(),
    owner: z.string(),
    note: z.string(),
    status: claimStatus(),
    data_ref: z.string(),
    worktree: z.string(),
    branch: z.string().nullable(),
    paths: z.array(z.string()),
    case_sensitive: z
      .literal(true)
      .optional()
      .describe('Makefile and makefile are two files there'),
    epoch: z.int().min(1),
    version: z.int().min(0),
    checkpoint: z.string().nullable(),
    git: z
      .object({
        repository: z.string().nullable(),
        base: z.string(),
        auto_release_on: z.enum(['manual', 'commit', 'merge']),
      })
      .nullable(),
    offered_to: z.string().nullable().describe('who may take it over with claims.take'),
    claimed_at: seconds(),
    lease_expires_at: seconds(),
    gone_since: seconds().optional().describe('its holder is gone since then'),
  }),
);
