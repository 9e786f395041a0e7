/** What guards of programs decided, for the record. */
import { z } from 'zod';
import { GUARDED_KINDS } from '../../core/work/guard-decision.ts';
import { GUARD_LIST_MAX, GUARD_NAME_CHARS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation } from '../operation.ts';
import { shape } from '../shape.ts';

const name = shape(() => z.string().min(1).max(GUARD_NAME_CHARS_MAX));

export const guardRecord = operation({
  id: 'guard.record',
  name: 'guard_record',
  title: 'Record what a guard decided',
  doc: 'Put on the record what the guard of your program allowed and refused; it is kept in the log under your name and shown in audit.list.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      decisions: z
        .array(
          z.strictObject({
            guard: name().describe('the name of the guard'),
            kind: z.enum(GUARDED_KINDS),
            what: z.string().max(4_096).describe('the path, address or program; long ones are cut'),
            allowed: z.boolean(),
            code: name(),
            why: z.string().max(4_096),
            enforcement: z.enum(['advisory', 'os']),
            as: name().nullish().describe('for whom your program says that it asked'),
            times: z.int().min(1).max(1_000_000).default(1),
          }),
        )
        .min(1)
        .max(GUARD_LIST_MAX),
      missed: z
        .int()
        .min(0)
        .max(1_000_000_000)
        .default(0)
        .describe('decisions that could not be told since the last ones that were'),
    }),
  output: () => z.object({ recorded: z.int() }),
});
