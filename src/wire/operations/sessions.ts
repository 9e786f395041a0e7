/** Sessions: histories of typed items that outlive a process, and hand-offs of them. */
import { z } from 'zod';
import {
  APPENDED_ITEMS_LIST_MAX,
  CALL_WORD_CHARS_MAX,
  HANDOFF_CLAIMS_LIST_MAX,
  HANDOFF_WHY_CHARS_MAX,
  ITEMS_PER_SESSION_MAX,
  SESSION_KEY_CHARS_MAX,
  SESSION_TTL_MS_LONGEST,
} from '../../core/sessions/session-limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey, jsonObject, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const sessionId = shape(() => z.string().min(1).max(32));
const word = shape(() => z.string().min(1).max(CALL_WORD_CHARS_MAX));
const key = shape(() =>
  z
    .string()
    .min(1)
    .max(SESSION_KEY_CHARS_MAX)
    .nullish()
    .describe('your own name for it: asked again under it, you get the same session'),
);
const ttlMs = shape(() =>
  z
    .int()
    .min(0)
    .max(SESSION_TTL_MS_LONGEST)
    .optional()
    .describe('how long after its last change it is over; 0: never; omitted: 30 days'),
);
const expectedLength = shape(() =>
  z.int().min(0).nullish().describe('refused with session.length unless it is so long'),
);
const count = shape(() => z.int().min(0).max(ITEMS_PER_SESSION_MAX));

/** Whatever the maker of the item knows besides; carried as it is. */
const data = shape(() =>
  jsonObject().optional().describe('what else its maker knows of it, carried as it is'),
);
const content = shape(() =>
  z.union([z.string(), z.array(z.unknown())]).describe('text, or a list of parts'),
);

const said = shape(() => ({ content: content(), data: data() }));
const user = shape(() => z.strictObject({ kind: z.literal('user'), ...said() }));
const assistant = shape(() => z.strictObject({ kind: z.literal('assistant'), ...said() }));
const note = shape(() => z.strictObject({ kind: z.literal('note'), ...said() }));
const toolCall = shape(() =>
  z.strictObject({
    kind: z.literal('tool_call'),
    call_id: word(),
    name: word().describe('which tool'),
    arguments: z.unknown(),
    key: word()
      .optional()
      .describe('under which it can be asked what became of it; omitted: one is made'),
    data: data(),
  }),
);
const toolResult = shape(() =>
  z.strictObject({
    kind: z.literal('tool_result'),
    call_id: word(),
    state: z.enum(['ok', 'error', 'unknown']).default('ok'),
    output: z.unknown(),
    data: data(),
  }),
);

/**
 * What may be appended; hand-offs are written by sessions.handoff.
 *
 * @example
 * const item: NewItem = { kind: 'user', content: 'Where is my parcel?' };
 */
export const newItem = shape(() =>
  z.discriminatedUnion('kind', [user(), assistant(), toolCall(), toolResult(), note()]),
);
/**
 * An item of a session as it is appended.
 *
 * @example
 * ```ts
 * const item: NewItem = { kind: 'user', content: 'land it, please' };
 * ```
 */
export type NewItem = z.input<ReturnType<typeof newItem>>;
const items = shape(() => z.array(newItem()).max(APPENDED_ITEMS_LIST_MAX));

const placed = shape(() => ({
  index: z.int().nullable().describe('null: not stored; the call before it has no result yet'),
  item_id: z.string().nullable(),
  at: seconds(),
  by: z.string(),
}));
const handoff = shape(() =>
  z.object({
    kind: z.literal('handoff'),
    from: z.string(),
    to: z.string(),
    why: z.string(),
    input: z.unknown(),
    ...placed(),
  }),
);

/**
 * An item as every door shows it.
 *
 * @example
 * const isOpen = ({ kind, index }: SessionItem): boolean => kind === 'tool_result' && index === null;
 */
export const sessionItem = shape(() =>
  z.discriminatedUnion('kind', [
    z.object({ ...user().shape, ...placed() }),
    z.object({ ...assistant().shape, ...placed() }),
    z.object({ ...note().shape, ...placed() }),
    z.object({ ...toolCall().shape, key: z.string(), ...placed() }),
    z.object({
      ...toolResult().shape,
      state: z.enum(['ok', 'error', 'unknown']),
      key: z.string().optional().describe('where the state is unknown and not stored: ask by it'),
      ...placed(),
    }),
    handoff(),
  ]),
);
/**
 * An item of a session as it is read.
 *
 * @example
 * ```ts
 * const kinds = (items: readonly SessionItem[]): string[] => items.map(({ kind }) => kind);
 * ```
 */
export type SessionItem = z.output<ReturnType<typeof sessionItem>>;

const sessionView = shape(() =>
  z.object({
    session_id: z.string(),
    key: z.string().nullable(),
    state: z.enum(['open', 'parked', 'closed', 'lapsed']),
    agent_id: z.string().describe('who holds it'),
    created_by: z.string(),
    created_at: seconds(),
    changed_at: seconds(),
    expires_at: seconds().nullable().describe('unless it is changed before; null: never, or over'),
    length: z.int().describe('how many items it has'),
    version: z.int().describe('how often it was changed'),
    open_calls: z.array(
      z.object({ call_id: z.string(), name: z.string(), key: z.string(), since: seconds() }),
    ),
    shared: z.array(z.object({ agent_id: z.string(), access: z.enum(['read', 'append']) })),
    forked_from: z.object({ session_id: z.string(), length: z.int() }).nullable(),
    claims: z.array(z.string()).describe('offered to its holder with the hand-off'),
    cuts: z.int().describe('rewinds, compactions and filtered hand-offs'),
    last_cut: z.int().nullable().describe('read what it took away with sessions.get, cut'),
    reason: z.string().nullable().describe('why it was closed'),
  }),
);
export type SessionOut = z.output<ReturnType<typeof sessionView>>;

export const sessionsCreate = operation({
  id: 'sessions.create',
  name: 'sessions_create',
  title: 'Create a session',
  doc: 'Begin a history of items that outlives your process. Under a key it is created once.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      agent_id: agentId().optional().describe('who holds it; omitted: you. For people'),
      key: key(),
      ttl_ms: ttlMs(),
      seed: items().default([]).describe('its first items'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => sessionView().extend({ created: z.boolean() }),
});

export const sessionsGet = operation({
  id: 'sessions.get',
  name: 'sessions_get',
  title: 'Read a session',
  doc: 'A session and its items, oldest first. A call without a result is followed by one with state unknown and the key to ask by.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      from: count().default(0).describe('the index of the first item'),
      last: z
        .int()
        .min(0)
        .max(ITEMS_PER_SESSION_MAX)
        .optional()
        .describe('only so many of the newest'),
      limit: z.int().min(0).max(PAGE_ROWS_MAX).default(100),
      cut: z
        .int()
        .min(0)
        .optional()
        .describe('instead: what this rewind, compaction or filter took away'),
    }),
  output: () =>
    z.object({
      session: sessionView(),
      items: z.array(sessionItem()),
      next: z.int().nullable().describe('go on with it as from; null: that was all'),
      previous_cut: z.int().nullable(),
    }),
});

export const sessionsList = operation({
  id: 'sessions.list',
  name: 'sessions_list',
  title: 'List sessions',
  doc: 'Sessions that you hold, created or share; people see all. The newest first.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      agent_id: agentId().optional().describe('who holds or created it'),
      key: z.string().min(1).max(SESSION_KEY_CHARS_MAX).optional(),
      all: z.boolean().default(false).describe('also those that are over'),
      after: z.string().max(32).optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () => z.object({ sessions: z.array(sessionView()), next: z.string().nullable() }),
});

export const sessionsAppend = operation({
  id: 'sessions.append',
  name: 'sessions_append',
  title: 'Append to a session',
  doc: 'Append items, all or none. A result follows its call; claims that came with a hand-off are taken with the first append.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      items: items().min(1),
      expected_length: expectedLength(),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      session: sessionView(),
      claims: z
        .array(
          z.object({ claim_id: z.string(), taken: z.boolean(), reason: z.string().nullable() }),
        )
        .describe('that came with the hand-off'),
    }),
});

export const sessionsFork = operation({
  id: 'sessions.fork',
  name: 'sessions_fork',
  title: 'Fork a session',
  doc: 'A session of your own that begins with the history of another, or the first part of it. Nothing is copied.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      length: count()
        .optional()
        .describe('of its items; omitted: all that split no call from its result'),
      key: key(),
      ttl_ms: ttlMs().describe('omitted: as the one that is forked'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => sessionView().extend({ created: z.boolean() }),
});

export const sessionsRewind = operation({
  id: 'sessions.rewind',
  name: 'sessions_rewind',
  title: 'Rewind a session',
  doc: 'Go back to a shorter history. What is cut off can still be read with sessions.get, cut.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      length: count(),
      expected_length: expectedLength(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => sessionView(),
});

export const sessionsCompact = operation({
  id: 'sessions.compact',
  name: 'sessions_compact',
  title: 'Compact a session',
  doc: 'Put a summary in the place of the oldest items. The originals can still be read with sessions.get, cut.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      summary: content(),
      keep: count().default(0).describe('how many of the newest stay as they are, at the least'),
      data: data(),
      expected_length: expectedLength(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => sessionView(),
});

export const sessionsShare = operation({
  id: 'sessions.share',
  name: 'sessions_share',
  title: 'Share a session',
  doc: 'Let another agent read your session, or append to it too; none takes it back.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      agent_id: agentId(),
      access: z.enum(['read', 'append', 'none']).default('read'),
    }),
  output: () => sessionView(),
});

export const sessionsClose = operation({
  id: 'sessions.close',
  name: 'sessions_close',
  title: 'Close a session',
  doc: 'Nothing is appended any more. It can still be read for a while.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      reason: z.string().max(HANDOFF_WHY_CHARS_MAX).nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => sessionView(),
});

export const sessionsHandoff = operation({
  id: 'sessions.handoff',
  name: 'sessions_handoff',
  title: 'Hand a session on',
  doc: 'Another agent holds it from now on: told why and with what, with the items that you keep and your claims. One that goes round is parked for a person.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      session_id: sessionId(),
      to: agentId(),
      why: z.string().min(1).max(HANDOFF_WHY_CHARS_MAX),
      input: z.unknown().optional().describe('what it is to work on'),
      keep: z
        .array(z.tuple([count(), count()]))
        .max(ITEMS_PER_SESSION_MAX)
        .nullish()
        .describe('ranges [from, until) of items that go along; omitted: all'),
      claims: z
        .array(z.string().min(1).max(256))
        .max(HANDOFF_CLAIMS_LIST_MAX)
        .nullish()
        .describe('of the holder, offered along; omitted: all it holds'),
      expected_length: expectedLength(),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      session: sessionView(),
      parked: z
        .boolean()
        .describe('it went round too often: it was not handed on, a person was asked'),
      claims: z.array(z.string()),
    }),
});
