/** What became of messages: acks, receipts, collecting answers, and mail held for review. */
import { z } from 'zod';
import { ACK_REASON_CHARS_MAX } from '../../core/law/limits.ts';
import { ADDS, operation, READS, SETS } from '../operation.ts';
import { ackStatus, messageEnvelope, messageIdText, receiptState, seconds } from '../schemas.ts';

export const COLLECT_SECONDS_MAX = 300;
export const WAITS_SHOWN_MAX = 200;

export const ack = operation({
  id: 'channels.ack',
  name: 'channels_ack',
  title: 'Acknowledge a message',
  doc: 'Tell the sender what you did; nack with a reason. Moves forward only.',
  access: 'writer',
  toolset: 'core',
  hints: SETS,
  input: () =>
    z.strictObject({
      message_id: messageIdText(),
      status: ackStatus(),
      reason: z.string().max(ACK_REASON_CHARS_MAX).nullish(),
    }),
  output: () => z.object({ message_id: z.string(), status: ackStatus(), acked_at: seconds() }),
});

export const collect = operation({
  id: 'channels.collect',
  name: 'channels_collect',
  title: 'Collect answers',
  doc: 'Wait until `count` agents acked or answered a message, or the timeout (seconds) passed.',
  access: 'writer',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      reply_to: messageIdText(),
      count: z.int().min(1).max(100_000),
      timeout: z.number().min(0.1).describe('seconds, at most 300'),
      status_filter: z.array(ackStatus()).nullish(),
    }),
  output: () =>
    z.object({
      received: z.array(
        z.object({
          agent_id: z.string(),
          message_id: z.string(),
          status: ackStatus(),
          acked_at: seconds(),
        }),
      ),
      missing: z.array(z.string()),
      timed_out: z.boolean(),
    }),
});

export const receiptsGet = operation({
  id: 'receipts.get',
  name: 'receipts_get',
  title: 'Receipts of a message',
  doc: 'What became of a message for each recipient: accepted, presented, consumed, acted, held, refused, expired or dead, and why.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ message_id: messageIdText() }),
  output: () =>
    z.object({
      message_id: z.string(),
      channel: z.string(),
      receipts: z.array(
        z.object({
          agent_id: z.string(),
          state: receiptState(),
          reason: z.string().nullable(),
          at: seconds().nullable(),
        }),
      ),
    }),
});

export const receiptsWaits = operation({
  id: 'receipts.waits',
  name: 'receipts_waits',
  title: 'Who waits for whom',
  doc: 'Questions you may read that nobody has answered: who asked, who could answer, and who waits in a circle.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ limit: z.int().min(1).max(WAITS_SHOWN_MAX).default(50) }),
  output: () =>
    z.object({
      waits: z.array(
        z.object({
          agent_id: z.string().describe('who asked'),
          waits_for: z.array(z.string()),
          delivered_to: z.array(z.string()).describe('of those, who has read it'),
          message_id: z.string(),
          channel: z.string(),
          since: seconds(),
          deadlocked: z.boolean(),
        }),
      ),
      deadlocked: z
        .array(z.string())
        .describe('each has asked what only others of this list could answer'),
      has_more: z.boolean().describe('some were not looked at, or not shown'),
    }),
});

export const heldList = operation({
  id: 'held.list',
  name: 'held_list',
  title: 'Held messages',
  doc: 'Messages of untrusted senders that wait for a person.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      limit: z.int().min(1).max(1000).default(100),
      after: messageIdText().optional().describe('`next` of a page'),
      message_id: messageIdText().optional().describe('this one alone'),
    }),
  output: () =>
    z.object({
      held: z.array(z.object({ message: messageEnvelope(), reason: z.string(), since: seconds() })),
      has_more: z.boolean(),
      next: z.string().nullable().describe('give it as `after` for the next page'),
    }),
});

export const heldReview = operation({
  id: 'held.review',
  name: 'held_review',
  title: 'Release or refuse a held message',
  doc: 'Release a held message to its readers, or refuse it with a reason.',
  access: 'person',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      message_id: messageIdText(),
      decision: z.enum(['release', 'refuse']),
      reason: z.string().max(ACK_REASON_CHARS_MAX).nullish(),
    }),
  output: () => z.object({ message_id: z.string(), decision: z.enum(['release', 'refuse']) }),
});
