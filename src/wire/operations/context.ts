/**
 * Context: values under a namespace and a key, that agents share. A version and a snapshot are the same
 * kind of number, a position of the log: what a key held at a snapshot can be read for ever.
 */
import { z } from 'zod';
import {
  CONTEXT_KEY_CHARS_MAX,
  CONTEXT_TTL_MS_MAX,
  NAMESPACE_CHARS_MAX,
} from '../../core/context/context-limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { operation, READS, REMOVES, SETS } from '../operation.ts';
import { idempotencyKey, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';
import { WAIT_MS_MAX } from './channels.ts';

const ns = shape(() =>
  z
    .string()
    .min(1)
    .max(NAMESPACE_CHARS_MAX)
    .describe(
      'a namespace; private/YOU is yours alone, by/YOU only you write, group/ID its members',
    ),
);
const key = shape(() => z.string().min(1).max(CONTEXT_KEY_CHARS_MAX));
const prefix = shape(() =>
  z.string().max(CONTEXT_KEY_CHARS_MAX).describe('keys that begin with it'),
);
const json = shape(() => z.unknown().describe('any JSON'));
const version = shape(() => z.int().min(0));
const snapshot = shape(() =>
  version().describe('a snapshot or version: as it was then; omitted: now'),
);
const page = shape(() => ({
  after: z.string().max(CONTEXT_KEY_CHARS_MAX).optional().describe('next of the page before'),
  limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
}));

const entry = shape(() =>
  z.object({
    key: z.string(),
    version: version().describe('for if_version'),
    bytes: z.int().describe('of the value as JSON'),
    by: z.string(),
    set_at: seconds(),
    expires_at: seconds().nullable(),
    value: json().optional().describe('only with values'),
    dropped: z.literal(true).optional().describe('too old: the value was dropped from the log'),
  }),
);

const change = shape(() =>
  z.object({
    key: z.string(),
    change: z.enum(['added', 'changed', 'removed']),
    before: version().describe('0: there was none'),
    after: version().describe('0: there is none'),
    by: z.string().nullable().describe('who wrote what is there after'),
    set_at: seconds().nullable(),
    value: json().optional().describe('what is there after; only with values'),
    before_value: json().optional(),
  }),
);

export const contextSet = operation({
  id: 'context.set',
  name: 'context_set',
  title: 'Set a value',
  doc: 'Set a value of the shared context. With if_version only if nobody changed it meanwhile; 0: only if it is new.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      ns: ns(),
      key: key(),
      value: json(),
      if_version: version().nullish(),
      ttl: z
        .number()
        .min(1)
        .max(CONTEXT_TTL_MS_MAX / 1000)
        .nullish()
        .describe('seconds, then it is gone; omitted: never'),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      ns: z.string(),
      key: z.string(),
      version: version(),
      expires_at: seconds().nullable(),
    }),
});

export const contextGet = operation({
  id: 'context.get',
  name: 'context_get',
  title: 'Get a value',
  doc: 'A value of the shared context, now or at a snapshot. Version 0: there is none.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ ns: ns(), key: key(), at: snapshot().optional() }),
  output: () =>
    z.object({
      ns: z.string(),
      key: z.string(),
      version: version(),
      value: json().describe('null also where there is none: look at version'),
      by: z.string().nullable(),
      set_at: seconds().nullable(),
      expires_at: seconds().nullable(),
      dropped: z.literal(true).optional(),
    }),
});

export const contextDelete = operation({
  id: 'context.delete',
  name: 'context_delete',
  title: 'Delete values',
  doc: 'Delete one key, or those with a prefix. What they held can still be read at a snapshot.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      ns: ns(),
      key: key().optional(),
      prefix: prefix().optional(),
      if_version: version().nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({
      deleted: z.int(),
      more: z.boolean().describe('there are more with that prefix: ask again'),
    }),
});

export const contextList = operation({
  id: 'context.list',
  name: 'context_list',
  title: 'List keys or namespaces',
  doc: 'The keys of a namespace, now or at a snapshot, with values if asked; without ns the namespaces you may read.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      ns: ns().optional(),
      prefix: prefix().optional(),
      at: snapshot().optional(),
      values: z.boolean().default(false),
      ...page(),
    }),
  output: () =>
    z.object({
      snapshot: version().describe('what was read; ask for the next page at it'),
      entries: z.array(entry()),
      namespaces: z.array(
        z.object({ ns: z.string(), keys: z.int(), bytes: z.int(), version: version() }),
      ),
      next: z.string().nullable(),
    }),
});

export const contextSnapshot = operation({
  id: 'context.snapshot',
  name: 'context_snapshot',
  title: 'Take a snapshot',
  doc: 'The number under which the context of this moment can be read for ever. Nothing is copied.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({ ns: ns().optional() }),
  output: () =>
    z.object({
      snapshot: version(),
      keys: z.int().nullable().describe('of the namespace'),
      bytes: z.int().nullable(),
    }),
});

export const contextDiff = operation({
  id: 'context.diff',
  name: 'context_diff',
  title: 'Compare two snapshots',
  doc: 'What was added, changed and removed in a namespace from one snapshot to another, or to now.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      ns: ns(),
      from: version(),
      to: version().optional().describe('omitted: now'),
      prefix: prefix().optional(),
      values: z.boolean().default(false),
      ...page(),
    }),
  output: () =>
    z.object({
      from: version(),
      to: version(),
      changes: z.array(change()),
      next: z.string().nullable(),
    }),
});

export const contextWatch = operation({
  id: 'context.watch',
  name: 'context_watch',
  title: 'Wait for changes',
  doc: 'What changed in a namespace since a snapshot; with wait_ms it waits until something does. Go on from snapshot.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      ns: ns(),
      since: version().describe('a snapshot; what came after it is told'),
      prefix: prefix().optional(),
      values: z.boolean().default(false),
      wait_ms: z.int().min(0).max(WAIT_MS_MAX).optional(),
      limit: page().limit,
    }),
  output: () =>
    z.object({
      snapshot: version().describe('ask again since this'),
      changes: z.array(change()).describe('none: nothing changed in time'),
      next: z
        .string()
        .nullable()
        .describe('more changed than is shown: context.diff from since to snapshot after this'),
    }),
});
