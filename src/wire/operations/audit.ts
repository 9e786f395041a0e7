/** The record as a list of deeds: who did what to what, and how it ended. */
import { z } from 'zod';
import { operation, READS } from '../operation.ts';
import { seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

export const AUDIT_ROWS_MAX = 500;

const deed = shape(() =>
  z.object({
    position: z.int().min(0).describe('its place in the log'),
    at: seconds(),
    action: z.string().describe('what happened: gate.approved, token.created, refusal.recorded, …'),
    actor: z.string(),
    subject: z.string().nullable().describe('what it was done to'),
    outcome: z
      .string()
      .describe('done, or how it ended: a state, a verdict, the code of a refusal'),
    detail: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe('ids, names and counts'),
    body_hash: z
      .string()
      .nullable()
      .describe('SHA-256 of the body as compact JSON; never the body'),
  }),
);

export const auditList = operation({
  id: 'audit.list',
  name: 'audit',
  title: 'List what was done',
  doc: 'Every decision, refusal, wake, turn, gate, token event and bus call on the record, the newest first; hashes of bodies, never bodies.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      since: seconds().optional().describe('then or later'),
      until: seconds().optional().describe('before then'),
      actor: z.string().min(1).max(256).optional(),
      action: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .describe('one kind (gate.approved), or all of a noun (gate)'),
      subject: z.string().min(1).max(256).optional(),
      outcome: z.string().min(1).max(64).optional(),
      after: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional()
        .describe('`next` of the page before'),
      limit: z.int().min(1).max(AUDIT_ROWS_MAX).default(100),
    }),
  output: () =>
    z.object({
      deeds: z.array(deed()),
      next: z
        .string()
        .nullable()
        .describe('give it as `after`; a page may be short or empty and still have one'),
    }),
});
