/**
 * The record looked back into: what a reading operation answered at an earlier moment, and how the
 * entries of the log lie in time.
 */
import { z } from 'zod';
import { operation, READS } from '../operation.ts';
import { seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

export const SPAN_BUCKETS_MAX = 1_000;

const position = shape(() =>
  z.int().min(0).describe('so many entries of the log: 0 is before the first, its length is now'),
);
const time = shape(() => z.number().min(0).describe('Unix seconds'));

export const recordAt = operation({
  id: 'record.at',
  name: 'record_at',
  title: 'Ask about an earlier moment',
  doc: 'What a reading operation answered at a position or time of the log, replayed from it. For people.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      position: position().optional(),
      time: time().optional().describe('Unix seconds; instead of position, and neither means now'),
      operation: z
        .string()
        .min(1)
        .max(128)
        .describe('one that reads: plan.board, claims.list, channels.replay, …'),
      input: z.record(z.string(), z.unknown()).optional().describe('what that operation takes'),
    }),
  output: () =>
    z.object({
      position: z.int(),
      at: seconds().nullable().describe('what the clock showed; null before the first entry'),
      operation: z.string(),
      answer: z.record(z.string(), z.unknown()).describe('as that operation gives it'),
    }),
});

export const recordSpan = operation({
  id: 'record.span',
  name: 'record_span',
  title: 'The log in time',
  doc: 'First and last time of the log, and its entries counted in slices of time. For people.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      buckets: z.int().min(1).max(SPAN_BUCKETS_MAX),
      from: time().optional().describe('Unix seconds; left out: the first entry'),
      to: time().optional().describe('Unix seconds; left out: the last entry'),
    }),
  output: () =>
    z.object({
      length: z.int(),
      first: seconds()
        .nullable()
        .describe('when the first entry was stored; null while there is none'),
      last: seconds().nullable(),
      from: seconds().nullable().describe('where the first slice begins'),
      to: seconds().nullable().describe('where the last one ends; each is as long as the others'),
      entries: z.array(z.int()).describe('stored in each slice'),
      positions: z.array(z.int()).describe('the position at the end of each slice'),
    }),
});
