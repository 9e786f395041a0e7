/** The inbox beyond draining: looking without taking, moving the cursor, and live streams. */
import { z } from 'zod';
import { operation, READS, SETS } from '../operation.ts';
import { channelName, principalKind, trustTier } from '../schemas.ts';

export const inboxPeek = operation({
  id: 'inbox.peek',
  name: 'inbox_peek',
  title: 'Look into the inbox',
  doc: 'How many messages you are owed, per channel, without taking any.',
  access: 'reader',
  toolset: 'core',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      owed: z.int().min(0),
      channels: z.array(z.object({ channel: z.string(), owed: z.int() })),
      leased: z.int().min(0),
    }),
});

export const inboxCommit = operation({
  id: 'inbox.commit',
  name: 'inbox_commit',
  title: 'Move the read cursor',
  doc: 'Count everything owed up to a position (from a stream) as read.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () => z.strictObject({ through: z.int().min(0) }),
  output: () => z.object({ committed: z.int().min(0) }),
});

export const streamOpen = operation({
  id: 'stream.open',
  name: 'stream_open',
  title: 'Open a live stream',
  doc: 'Push messages on this connection: your subscriptions, or the named channels; from now, from the inbox, or after a position.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  isStreaming: true,
  input: () =>
    z.strictObject({
      from: z.union([z.literal('now'), z.literal('inbox'), z.int().min(-1)]).default('now'),
      channels: z.array(channelName()).max(100).nullish(),
      receipts: z.boolean().default(false).describe('also push receipt changes of my messages'),
      marks: z.boolean().default(false).describe('also push marks of threads that this follows'),
      gates: z.boolean().default(false).describe('also push gates as they are asked and decided'),
      turns: z.boolean().default(false).describe('also push what turns say as they run'),
      changes: z.boolean().default(false).describe('for people: also push which nouns changed'),
    }),
  output: () => z.object({ stream: z.string(), position: z.int().min(-1) }),
});

export const streamClose = operation({
  id: 'stream.close',
  name: 'stream_close',
  title: 'Close a live stream',
  doc: 'Stop a stream of this connection.',
  access: 'reader',
  toolset: 'more',
  hints: SETS,
  isStreaming: true,
  input: () => z.strictObject({ stream: z.string().min(1).max(64) }),
  output: () => z.object({ closed: z.boolean() }),
});

export const whoami = operation({
  id: 'hub.whoami',
  name: 'whoami',
  title: 'Who am I',
  doc: 'The identity, kind, trust tier and space the hub authenticated you as.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      agent_id: z.string(),
      kind: principalKind(),
      tier: trustTier(),
      space: z.string(),
      subscriptions: z.array(z.string()),
    }),
});

export const hubStatus = operation({
  id: 'hub.status',
  name: 'status',
  title: 'Hub status',
  doc: 'Version, uptime, store, and the size of this space.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      version: z.string(),
      protocol_version: z.string(),
      node_id: z.string(),
      uptime_s: z.number(),
      store_ok: z.boolean(),
      space: z.string(),
      entries: z.int(),
      head: z.string(),
      channels: z.int(),
      agents: z.int(),
      trouble: z
        .string()
        .nullable()
        .describe('what is wrong with the log, until a person has closed its item'),
      cluster: z
        .object({ server: z.string(), sequencer: z.string().nullable(), changes: z.int() })
        .nullable()
        .describe('its part among several servers of one store'),
      feeds: z.int(),
      queued: z.int(),
      plugins: z.array(z.string()),
    }),
});
