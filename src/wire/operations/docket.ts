/** The docket: what waits for a person, how one takes and closes it, and how an agent asks. */
import { z } from 'zod';
import { CLOSE_OUTCOMES } from '../../core/docket/docket-commands.ts';
import { ITEM_KINDS } from '../../core/docket/docket-state.ts';
import { DOCKET_REASON_CHARS_MAX, DOCKET_TEXT_CHARS_MAX } from '../../core/law/limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

/** Things that an item of a list shows; `docket.get` shows all. */
export const SUBJECTS_SHOWN = 10;

const itemIdText = shape(() => z.string().regex(/^d[1-9]\d{0,15}$/, 'an item is named d1, d2 …'));
const itemKind = shape(() => z.enum(ITEM_KINDS));

const subject = shape(() =>
  z.object({
    kind: itemKind(),
    subject: z.string().describe('the id of the gate, message, turn, session or question'),
    reason: z.string(),
    text: z.string().describe('may be in the words of the agent'),
    thread: z.string().nullable(),
    since: seconds(),
    to: z.string().nullable().describe('who is asked; null: anybody'),
    until: seconds().nullable(),
  }),
);

const item = shape(() =>
  z.object({
    item_id: z.string(),
    state: z.enum(['open', 'taken', 'closed']),
    kinds: z.array(itemKind()).describe('of what it is about, the most urgent first'),
    agent_id: z.string(),
    reason: z.string(),
    thread: z.string().nullable(),
    text: z.string().describe('of what was raised last'),
    count: z.int().describe('how often it was raised'),
    since: seconds(),
    newest_at: seconds(),
    subjects: z.array(subject()),
    subjects_open: z.int().describe('what is still to be decided'),
    taken: z.object({ by: z.string(), at: seconds() }).nullable(),
    closed: z
      .object({
        by: z.string().nullable().describe('null: it ended by itself'),
        at: seconds(),
        outcome: z.string(),
        note: z.string().nullable(),
      })
      .nullable(),
  }),
);

export const docketList = operation({
  id: 'docket.list',
  name: 'docket_list',
  title: 'The docket',
  doc: 'What waits for a person, the longest first, a page at a time. An agent sees its own.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      state: z.enum(['open', 'taken', 'closed']).optional().describe('none: open and taken'),
      kind: itemKind().optional(),
      after: itemIdText().optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () =>
    z.object({
      items: z.array(item()),
      next: z.string().nullable(),
      open: z.int().describe('how many wait in all'),
    }),
});

export const docketGet = operation({
  id: 'docket.get',
  name: 'docket_get',
  title: 'One item of the docket',
  doc: 'An item with everything it is about, a page at a time (`after`: `next` of the page before).',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ item_id: itemIdText(), after: z.string().max(512).optional() }),
  output: () => z.object({ item: item(), next: z.string().nullable() }),
});

export const docketTake = operation({
  id: 'docket.take',
  name: 'docket_take',
  title: 'Take an item',
  doc: 'Say that you see to it. Another person who tries is told who has it; `force` takes it over.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject({ item_id: itemIdText(), force: z.boolean().default(false) }),
  output: () => z.object({ item: item() }),
});

export const docketClose = operation({
  id: 'docket.close',
  name: 'docket_close',
  title: 'Close an item',
  doc: 'Answer a question (`answered`, in `note`) or put an item away. A gate or a held message is decided instead.',
  access: 'person',
  toolset: 'admin',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      item_id: itemIdText(),
      subject: z.string().max(256).optional().describe('one of the things it is about'),
      outcome: z.enum(CLOSE_OUTCOMES),
      note: z.string().max(DOCKET_TEXT_CHARS_MAX).nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ item: item() }),
});

export const docketRaise = operation({
  id: 'docket.raise',
  name: 'docket_raise',
  title: 'Ask a person',
  doc: 'Put a question on the docket; the answer comes to your inbox. Nobody there: it waits, and is no yes.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      kind: z.literal('question').default('question'),
      text: z.string().min(1).max(DOCKET_TEXT_CHARS_MAX),
      to: agentId().nullish().describe('a person; none: anybody'),
      thread: z.string().min(1).max(DOCKET_REASON_CHARS_MAX).nullish(),
      until: seconds().nullish().describe('then it is no longer asked; at most 30 days ahead'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ item: item(), question: z.string() }),
});
