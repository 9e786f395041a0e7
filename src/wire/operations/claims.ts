/** Claims: leases on work with a scope of files, fenced by an epoch, with a queue for those who wait. */
import { z } from 'zod';
import {
  CHECKPOINT_CHARS_MAX,
  CLAIM_ID_CHARS_MAX,
  CLAIM_TEXT_CHARS_MAX,
  EVIDENCE_CHARS_MAX,
} from '../../core/work/claim/claim-limits.ts';
import { operation, READS, REMOVES, SETS } from '../operation.ts';
import { claimStatus, claimView, idempotencyKey, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';
import { WAIT_MS_MAX } from './channels.ts';

const claimId = shape(() => z.string().min(1).max(CLAIM_ID_CHARS_MAX));
const epoch = shape(() =>
  z.int().min(1).nullish().describe('fencing number; must be the current one'),
);
const text = shape(() => z.string().max(CLAIM_TEXT_CHARS_MAX));
const ttl = shape(() => z.number().nullish().describe('default 3600, 30 to 86400'));
// Kept loose here: the law normalises paths and says what is wrong with each.
const paths = shape(() =>
  z.array(z.string()).max(4096).nullish().describe('files, folders, globs'),
);
const PAGE_MAX = 500;
export const WAITS_SHOWN_MAX = 100;

export const claimTake = operation({
  id: 'claims.take',
  name: 'claims_take',
  title: 'Claim work and files',
  doc: 'Claim a task and its files before you edit them; again to renew. A worktree without paths is all of it. Refused: says who holds what until when; wait_ms queues.',
  access: 'writer',
  toolset: 'core',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: claimId(),
      paths: paths(),
      worktree: z.string().nullish().describe('its directory'),
      branch: z.string().nullish(),
      git: z
        .strictObject({
          repository: z.string().max(4096).nullish(),
          base: z.string().max(512).default('main'),
          auto_release_on: z.enum(['manual', 'commit', 'merge']).default('manual'),
        })
        .nullish(),
      note: text().nullish(),
      ttl_seconds: ttl(),
      // Renews that tenure only; 0 renews none.
      epoch: z.int().min(0).optional(),
      wait_ms: z.int().min(0).max(WAIT_MS_MAX).nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ claim: claimView(), renewed: z.boolean() }),
});

export const claimRelease = operation({
  id: 'claims.release',
  name: 'claims_release',
  title: 'Release a claim',
  doc: 'Give a claim back when the work is done or given up; whoever waits is told.',
  access: 'writer',
  toolset: 'core',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      task_id: claimId(),
      epoch: epoch(),
      evidence: z.string().max(EVIDENCE_CHARS_MAX).nullish(),
      force: z.boolean().default(false).describe('of another: people and administrators only'),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ task_id: z.string(), released: z.boolean(), was_owner: z.string() }),
});

export const claimUpdate = operation({
  id: 'claims.update',
  name: 'claims_update',
  title: 'Update a claim',
  doc: 'Report claimed, working, input_required, done or failed on a claim you hold; done ends the task on the plan.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: claimId(),
      status: claimStatus().nullish(),
      note: text().nullish(),
      data_ref: text().nullish(),
      epoch: epoch(),
      expected_version: z.int().min(0).nullish(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ claim: claimView() }),
});

export const claimCheckpoint = operation({
  id: 'claims.checkpoint',
  name: 'claims_checkpoint',
  title: 'Save a checkpoint',
  doc: 'Keep where you are with a claim; whoever holds the task next gets it.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: claimId(),
      checkpoint: z.string().max(CHECKPOINT_CHARS_MAX),
      epoch: epoch(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ claim: claimView() }),
});

export const claimHandoff = operation({
  id: 'claims.handoff',
  name: 'claims_handoff',
  title: 'Offer a claim',
  doc: 'Offer a claim with its scope, status and checkpoint to another agent that is here; it is yours until that one takes it with claims.take. To yourself: take the offer back.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: claimId(),
      to: z.string().min(1).max(128),
      note: text().nullish(),
      epoch: epoch(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => z.object({ claim: claimView() }),
});

const overlapView = shape(() =>
  z.object({ mine: z.string(), theirs: z.string(), witness: z.string() }),
);

export const claimCheck = operation({
  id: 'claims.check',
  name: 'claims_check',
  title: 'May I touch these paths?',
  doc: 'Which of these paths others hold, and until when; takes nothing.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      paths: z.array(z.string()).min(1).max(4096),
      worktree: z.string().nullish(),
    }),
  output: () =>
    z.object({
      free: z.boolean(),
      mine: z.boolean().describe('a claim of yours covers all of them'),
      conflicts: z.array(z.object({ claim: claimView(), overlaps: z.array(overlapView()) })),
    }),
});

export const claimList = operation({
  id: 'claims.list',
  name: 'claims_list',
  title: 'List claims',
  doc: 'Live claims, by owner or worktree, a page at a time, and who waits in the queue.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      owner: z.string().max(128).optional(),
      offered_to: z.string().max(128).optional().describe('who may take it over'),
      worktree: z
        .string()
        .max(4096)
        .optional()
        .describe('only those in it, or in a folder of one: those that cover something there'),
      after: claimId().optional(),
      limit: z.int().min(1).max(PAGE_MAX).default(100),
    }),
  output: () =>
    z.object({
      claims: z.array(claimView()),
      next: z.string().nullable(),
      waits: z
        .array(
          z.object({
            agent_id: z.string(),
            task_id: z.string().nullable().describe('null: for paths alone'),
            since: seconds(),
            reserved: z.boolean().describe('its turn has come'),
            waits_for: z.array(z.string()).describe('who holds what it waits for'),
          }),
        )
        .describe(`the first ${WAITS_SHOWN_MAX} of the queue, oldest first; none on a later page`),
    }),
});

export const claimWait = operation({
  id: 'claims.wait',
  name: 'claims_wait',
  title: 'Wait for a claim',
  doc: 'Queue for a task or paths others hold; when your turn comes you are told on sox/to/<you> and it is kept for you for 60 s.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      task_id: claimId().nullish(),
      paths: paths(),
      worktree: z.string().nullish(),
      ttl_seconds: ttl(),
    }),
  output: () =>
    z.object({
      wait: z.int(),
      until: seconds(),
      ahead: z.int().min(0),
      reserved: z.boolean().describe('it is free and kept for you'),
    }),
});

export const claimUnwait = operation({
  id: 'claims.unwait',
  name: 'claims_unwait',
  title: 'Stop waiting',
  doc: 'Leave the queue.',
  access: 'writer',
  toolset: 'work',
  hints: REMOVES,
  input: () => z.strictObject({ wait: z.int().min(1) }),
  output: () => z.object({ ended: z.boolean() }),
});

export const claimForget = operation({
  id: 'claims.forget',
  name: 'claims_forget',
  title: 'Forget old checkpoints',
  doc: 'Take away checkpoints that your claims left behind: one by its task, or all.',
  access: 'writer',
  toolset: 'work',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      task_id: claimId().optional(),
      agent_id: z
        .string()
        .max(128)
        .optional()
        .describe('of another: people and administrators only'),
    }),
  output: () => z.object({ forgotten: z.int() }),
});
