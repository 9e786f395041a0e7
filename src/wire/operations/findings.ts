/** Findings and recalls: what agents learned, recorded through the gate and streamed to memories outside. */
import { z } from 'zod';
import {
  FINDING_LIST_MAX,
  FINDING_REF_CHARS_MAX,
  FINDING_WORD_CHARS_MAX,
  QUERY_CHARS_MAX,
  RECALLED_IDS_MAX,
  STATEMENT_CHARS_MAX,
} from '../../core/work/work-limits.ts';
import { ADDS, operation, READS } from '../operation.ts';
import { jsonObject, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const word = shape(() => z.string().max(FINDING_WORD_CHARS_MAX));
const reference = shape(() => z.string().max(FINDING_REF_CHARS_MAX));

export const findingRecord = operation({
  id: 'findings.record',
  name: 'findings_record',
  title: 'Record a finding',
  doc: 'Record what you learned with its evidence and provenance; it is accepted, lowered to what the evidence bears, or rejected with reasons.',
  access: 'writer',
  toolset: 'work',
  hints: ADDS,
  input: () =>
    z.strictObject({
      statement: z.string().max(STATEMENT_CHARS_MAX),
      subkind: word().describe('codebase-fact, lesson, decision, dead-end, outcome'),
      evidence_kind: word().nullish(),
      claim_status: word().nullish(),
      freshness: word().nullish(),
      evidence_ref: reference().nullish(),
      provenance: z
        .strictObject({
          project: reference().nullish(),
          session: reference().nullish(),
          source_event_seq: z.number().nullish(),
          ts: z.number().nullish(),
          actor: reference().nullish(),
        })
        .nullish(),
      validity: z
        .strictObject({ valid_from: z.number().nullish(), valid_to: z.number().nullish() })
        .nullish(),
      lifecycle: word().nullish(),
      supersedes: reference().nullish(),
      verified_at_source: z
        .strictObject({ checked_this_session: z.boolean(), source_ref: reference().nullish() })
        .nullish(),
      producer_confidence: z.number().nullish(),
      execution_substrate: word().nullish(),
      entities: z.array(word()).max(FINDING_LIST_MAX).default([]),
      tags: z.array(word()).max(FINDING_LIST_MAX).default([]),
    }),
  output: () =>
    z.object({
      verdict: z.enum(['accept', 'floor']),
      reasons: z.array(z.string()),
      claim_status: z.string().nullable(),
      freshness: z.string().nullable(),
    }),
});

export const findingRecall = operation({
  id: 'findings.recall',
  name: 'findings_recall',
  title: 'Log a recall',
  doc: 'Tell that a memory was asked: the query, what came back, whether it was of use.',
  access: 'writer',
  toolset: 'work',
  hints: ADDS,
  input: () =>
    z.strictObject({
      query_text: z.string().max(QUERY_CHARS_MAX),
      returned_claim_ids: z.array(reference()).max(RECALLED_IDS_MAX).default([]),
      was_used: z.boolean().nullish(),
      abstained: z.boolean().nullish(),
    }),
  output: () => z.object({ logged: z.boolean() }),
});

export const MEMORY_KINDS = ['finding', 'recall', 'checkpoint', 'handoff'] as const;

export const findingList = operation({
  id: 'findings.list',
  name: 'findings_list',
  title: 'Read memory events',
  doc: 'Findings, recalls, checkpoints and hand-offs after a cursor, oldest first; go on with next.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      since: z.int().min(0).default(0).describe('cursor: next of the page before'),
      kinds: z.array(z.enum(MEMORY_KINDS)).min(1).optional(),
      limit: z.int().min(1).max(500).default(100),
    }),
  output: () =>
    z.object({
      events: z.array(
        z.object({
          position: z.int(),
          at: seconds(),
          kind: z.enum(MEMORY_KINDS),
          payload: jsonObject(),
        }),
      ),
      next: z.int(),
      has_more: z.boolean(),
    }),
});
