/** Administration: tokens and spaces. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import {
  agentId,
  backpressureMode,
  idempotencyKey,
  messageRetention,
  principalKind,
  roles,
  seconds,
  spaceName,
  trustTier,
} from '../schemas.ts';
import { shape } from '../shape.ts';
import { proofText } from './gates.ts';

const YEAR_S = 366 * 86_400;
const YEAR_MS = YEAR_S * 1_000;
const tokenId = shape(() => z.string().min(1).max(64));
const ttl = shape(() =>
  z
    .int()
    .min(1)
    .max(10 * YEAR_S)
    .nullish()
    .describe('seconds; omitted: never expires'),
);

const tokenView = shape(() =>
  z.object({
    token_id: z.string(),
    agent_id: z.string(),
    kind: principalKind(),
    tier: trustTier(),
    label: z.string().nullable(),
    roles: z.array(z.string()),
    created_at: seconds(),
    created_by: z.string(),
    expires_at: seconds().nullable(),
    revoked_at: seconds().nullable(),
  }),
);

export const tokenCreate = operation({
  id: 'tokens.create',
  name: 'tokens_create',
  title: 'Create a token',
  doc: 'Create a credential for one agent. The secret is shown once and stored only as a hash.',
  access: 'admin',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      agent_id: agentId(),
      kind: principalKind().default('agent'),
      tier: trustTier().default('standard'),
      label: z.string().max(256).nullish(),
      roles: roles().nullish().describe('what it may be told as, role:<role>'),
      ttl: ttl(),
    }),
  output: () => z.object({ token: z.string(), ...tokenView().shape }),
});

export const tokenList = operation({
  id: 'tokens.list',
  name: 'tokens_list',
  title: 'List tokens',
  doc: 'All tokens of this space, without their secrets.',
  access: 'admin',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () => z.object({ tokens: z.array(tokenView()) }),
});

export const tokenRotate = operation({
  id: 'tokens.rotate',
  name: 'tokens_rotate',
  title: 'Rotate a token',
  doc: 'Give a token a new secret; the old one stops working at once.',
  access: 'admin',
  toolset: 'admin',
  hints: { ...REMOVES, idempotentHint: false },
  input: () => z.strictObject({ token_id: tokenId(), ttl: ttl() }),
  output: () => z.object({ token: z.string(), ...tokenView().shape }),
});

export const tokenRevoke = operation({
  id: 'tokens.revoke',
  name: 'tokens_revoke',
  title: 'Revoke a token',
  doc: 'End a token for good; open connections that used it are closed.',
  access: 'admin',
  toolset: 'admin',
  hints: REMOVES,
  input: () => z.strictObject({ token_id: tokenId(), idempotency_key: idempotencyKey() }),
  output: () => z.object({ token_id: z.string(), revoked: z.boolean() }),
});

export const spaceList = operation({
  id: 'spaces.list',
  name: 'spaces_list',
  title: 'List spaces',
  doc: 'The spaces of this hub. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () => z.object({ spaces: z.array(z.object({ name: z.string(), entries: z.int() })) }),
});

export const spaceCreate = operation({
  id: 'spaces.create',
  name: 'spaces_create',
  title: 'Create a space',
  doc: 'Create an isolated space (SOX: namespace). For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: SETS,
  input: () => z.strictObject({ name: spaceName() }),
  output: () => z.object({ name: z.string(), created: z.boolean() }),
});

export const spaceRemove = operation({
  id: 'spaces.remove',
  name: 'spaces_remove',
  title: 'Remove a space',
  doc: 'Close a space for all and move its store aside; its name is refused until spaces.create makes it again, empty. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: { ...REMOVES, idempotentHint: false },
  input: () =>
    z.strictObject({
      name: spaceName(),
      delete: z
        .boolean()
        .optional()
        .describe('delete what it held, also when it was removed before'),
    }),
  output: () =>
    z.object({
      name: z.string(),
      removed_at: seconds(),
      kept: z.string().nullable().describe('where what it held lies now; null: nothing is kept'),
    }),
});

const gatesProof = shape(() => z.enum(['person', 'none']));

/** From a second to a day; a supervisor that looks more often only costs. */
/** What may be laid down as the most of one agent; a space holds more than a few such agents. */
export const CLAIMS_PER_AGENT_SET_MAX = 10_000;
export const OFFERS_PER_AGENT_SET_MAX = 1_000;
const perAgent = (max: number) => z.int().min(1).max(max).nullable().optional();
const period = shape(() => z.int().min(1_000).max(86_400_000).nullable().optional());

export const spaceConfigure = operation({
  id: 'spaces.configure',
  name: 'spaces_configure',
  title: 'Configure this space',
  doc: 'Defaults of this space: backpressure, idempotency, typed channels, untrusted senders, what lapses and when.',
  access: 'admin',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      backpressure_mode: backpressureMode().optional(),
      queue_limit: z.int().min(1).max(10_000_000).optional(),
      idempotency_ttl_ms: z
        .int()
        .min(1)
        .max(30 * 86_400_000)
        .optional(),
      typed_only: z.boolean().optional(),
      hold_untrusted: z.boolean().optional(),
      held_ttl_ms: z
        .int()
        .min(60_000)
        .max(YEAR_MS)
        .optional()
        .describe('then a held message expires'),
      agent_idle_ms: z
        .int()
        .min(86_400_000)
        .max(10 * YEAR_MS)
        .optional()
        .describe('then an agent that is owed nothing is forgotten'),
      message_retention_ms: messageRetention().describe(
        'older bodies go at compaction; null keeps all',
      ),
      memory_retention_ms: messageRetention().describe(
        'then checkpoints of claims that are gone are forgotten and findings no longer shown; null keeps all',
      ),
      supervise_every_ms: period().describe(
        'how often the supervisor looks at the plan; null: 30 s',
      ),
      stalled_after_ms: period().describe(
        'then a task that nobody moves is offered again; null: 300 s',
      ),
      gates_proof: gatesProof()
        .optional()
        .describe('none: the owner’s credential decides gates of tier 1; a person says so'),
      gates_proof_ms: z
        .int()
        .min(60_000)
        .max(86_400_000)
        .nullable()
        .optional()
        .describe('how long a proof lasts; null: 15 min'),
      proof: proofText(),
      claims_per_agent: perAgent(CLAIMS_PER_AGENT_SET_MAX).describe('held at once; null: 128'),
      offers_per_agent: perAgent(OFFERS_PER_AGENT_SET_MAX).describe('made at once; null: 64'),
      turns_parallel_max: z
        .int()
        .min(1)
        .max(1_000)
        .nullish()
        .describe('turns of managed agents that run at once; null: 4'),
      turns_day_usd: z.number().min(0).nullish().describe('what all turns of a day may cost'),
      turns_day_tokens: z.int().min(0).nullish().describe('likewise in tokens'),
    }),
  output: () =>
    z.object({
      backpressure_mode: backpressureMode(),
      queue_limit: z.int(),
      idempotency_ttl_ms: z.int(),
      typed_only: z.boolean(),
      hold_untrusted: z.boolean(),
      held_ttl_ms: z.int(),
      agent_idle_ms: z.int(),
      message_retention_ms: z.int().nullable(),
      memory_retention_ms: z.int().nullable(),
      supervise_every_ms: z.int().nullable(),
      stalled_after_ms: z.int().nullable(),
      gates_proof: gatesProof(),
      gates_proof_ms: z.int().nullable(),
      claims_per_agent: z.int().nullable(),
      offers_per_agent: z.int().nullable(),
      turns_parallel_max: z.int().nullable(),
      turns_day_usd: z.number().nullable(),
      turns_day_tokens: z.int().nullable(),
    }),
});
