/** Threads: one message, a thread with its replies, which threads there are, and how they are marked. */
import { z } from 'zod';
import { THREAD_STATES } from '../../core/threads/thread-page.ts';
import { operation, READS, SETS } from '../operation.ts';
import {
  agentId,
  channelName,
  idempotencyKey,
  jsonObject,
  messageEnvelope,
  messageIdText,
  seconds,
} from '../schemas.ts';
import { shape } from '../shape.ts';

export const THREAD_PAGE_MAX = 500;
const HEADLINES_PAGE_MAX = 100;

export const MARKS = ['pin', 'unpin', 'close', 'reopen', 'resolve', 'unresolve'] as const;
const mark = shape(() => z.enum(MARKS));

const threadFields = shape(() => ({
  state: z.enum(['open', 'closed']),
  resolved: z.boolean(),
  pinned: z.boolean(),
  version: z.int().min(0).describe('how often it was marked'),
}));

/** How a thread stands. */
const threadView = shape(() =>
  z.object({
    thread_id: z.string().describe('the message_id of its root'),
    channel: z.string(),
    ...threadFields(),
    closed: z
      .object({ by: z.string(), at: seconds(), note: z.string().nullable() })
      .nullable()
      .describe('by whom and why, while it is closed'),
    reply_count: z.int().min(0),
  }),
);

const markView = shape(() =>
  z.object({
    mark: mark(),
    by: z.string(),
    standing: z.string(),
    at: seconds(),
    note: z.string().nullable(),
    version: z.int().min(1),
  }),
);

/** A mark as it is told of, beside its thread. */
export const markNotice = shape(() =>
  markView().extend({ thread_id: z.string(), channel: z.string() }),
);

/** A message in a page: its body may be left out where it is too long for one. */
const pagedMessage = shape(() =>
  messageEnvelope().extend({
    cut: z.literal(true).optional().describe('too long for a page: messages.get has the body'),
    quote: z.literal(true).optional().describe('reply_to is a link to another thread'),
  }),
);

/** One line about a thread, or about a message of one. */
const headline = shape(() =>
  z.object({
    message_id: z.string(),
    thread_id: z.string(),
    channel: z.string(),
    sender: z.string(),
    standing: z.string().nullable(),
    sent_at: seconds(),
    title: z.string().nullable().describe('of a post its title, else how it begins'),
    type: z.string().nullable(),
    tier: z.int().nullable(),
    ...threadFields(),
    reply_count: z.int().min(0).describe('of the thread'),
    last_reply_id: z.string().nullable(),
    dropped: z.literal(true).optional(),
  }),
);

export const messagesGet = operation({
  id: 'messages.get',
  name: 'messages_get',
  title: 'Read one message',
  doc: 'One message by its id, with its whole body and the thread it belongs to.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ message_id: messageIdText() }),
  output: () =>
    z.object({
      message: messageEnvelope().extend({
        quote: z.literal(true).optional().describe('reply_to is a link to another thread'),
        held: z.literal(true).optional().describe('it waits for a person, or was refused by one'),
      }),
      thread_id: z.string().nullable().describe('null when its channel was retired'),
    }),
});

export const threadsGet = operation({
  id: 'threads.get',
  name: 'threads_get',
  title: 'Read a thread',
  doc: 'The thread of a message: root, replies in order a page at a time, and the newest marks.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      message_id: messageIdText().describe('any message of the thread'),
      after: messageIdText().optional().describe('`next` of the page before'),
      limit: z.int().min(1).max(THREAD_PAGE_MAX).default(100),
      marks_before: z.int().min(0).optional().describe('`marks_next` of the page before'),
    }),
  output: () =>
    z.object({
      thread: threadView(),
      root: pagedMessage().nullable().describe('null when it is not for you to read'),
      replies: z.array(pagedMessage()),
      next: z.string().nullable(),
      marks: z.array(markView()).describe('the newest first'),
      marks_next: z.int().nullable(),
    }),
});

export const threadsMark = operation({
  id: 'threads.mark',
  name: 'threads_mark',
  title: 'Mark a thread',
  doc: 'Close a thread with a note, open it again, resolve or pin it. For its author, those its root names in owners, and people.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      message_id: messageIdText().describe('any message of the thread'),
      mark: mark(),
      note: z.string().nullish().describe('why; needed to close'),
      expected_version: z.int().min(0).nullish().describe('refuse when it was marked since'),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      thread: threadView(),
      changed: z.boolean().describe('false: it was so already, and nothing was stored'),
    }),
});

export const threadsList = operation({
  id: 'threads.list',
  name: 'threads_list',
  title: 'List threads',
  doc: 'Threads you may read, the newest root first: posts, and what was replied to or marked. A page may hold fewer than there are: go on with `next`.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      channel: channelName().optional(),
      state: z.enum(THREAD_STATES).optional(),
      author: agentId().optional(),
      type: z.string().min(1).max(64).optional(),
      after: messageIdText().optional().describe('`next` of the page before'),
      limit: z.int().min(1).max(HEADLINES_PAGE_MAX).default(50),
    }),
  output: () => z.object({ threads: z.array(headline()), next: z.string().nullable() }),
});

export const DIGEST_VIEWS = ['headlines', 'recent', 'full'] as const;

export const channelsDescribe = operation({
  id: 'channels.describe',
  name: 'channels_describe',
  title: 'Describe a channel',
  doc: 'Say what a channel is for and what its posts must be. For who made it, and people. Null clears.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      channel: channelName(),
      title: z.string().nullish(),
      description: z.string().nullish(),
      standing: z.boolean().optional().describe('it stays although nobody uses it'),
      types: z.array(z.string()).nullish().describe('the types a post may have; none: any'),
      tiers: z.array(z.int().min(0).max(2)).max(3).nullish().describe('none: 0, 1 and 2'),
      post_schema: jsonObject()
        .nullish()
        .describe('JSON Schema 2020-12 for bodies whose kind is post'),
    }),
  output: () =>
    z.object({
      channel: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      standing: z.boolean(),
      types: z.array(z.string()),
      tiers: z.array(z.int()),
      post_schema: jsonObject().nullable(),
      described_by: z.string(),
      described_at: seconds(),
    }),
});

export const DIGEST_CHANNELS_MAX = 50;

export const channelsDigest = operation({
  id: 'channels.digest',
  name: 'channels_digest',
  title: 'What is new',
  doc: 'The newest of several channels at once, so much of each: headlines (threads, pinned first, closed last), recent (messages by time) or full (with bodies).',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      channels: z
        .array(channelName())
        .min(1)
        .max(DIGEST_CHANNELS_MAX)
        .optional()
        .describe('exact names; default those you follow, or else see'),
      view: z.enum(DIGEST_VIEWS),
      since: seconds().optional().describe('Unix seconds: nothing older'),
      limit: z.int().min(1).max(20).default(5).describe('of each channel'),
    }),
  output: () =>
    z.object({
      view: z.enum(DIGEST_VIEWS),
      rows: z.array(headline()).describe('of headlines and recent'),
      messages: z.array(pagedMessage()).describe('of full, the oldest first'),
      channels: z.array(
        z.object({
          channel: z.string(),
          title: z.string().nullable(),
          shown: z.int().min(0),
          more: z.boolean().describe('it has more than is shown'),
        }),
      ),
      channels_left_out: z.int().min(0),
    }),
});
