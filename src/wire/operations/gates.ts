/** Gates: what only a person may allow. */
import { z } from 'zod';
import {
  GATE_COUNT_LIST_MAX,
  GATE_DEADLINE_MS,
  GATE_DEADLINE_MS_MAX,
  GATE_NAMES_LIST_MAX,
  GATE_REASON_CHARS_MAX,
  GATE_SUBJECT_CHARS_MAX,
  GATE_WORD_CHARS_MAX,
} from '../../core/gates/gate-limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { idempotencyKey, jsonObject, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';
import { WAIT_MS_MAX } from './channels.ts';

const gateId = shape(() => z.string().min(1).max(64));
const hash = shape(() =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
    .nullish()
    .describe('SHA-256 in hex of the canonical JSON (RFC 8785) of what would be done'),
);
const payload = shape(() =>
  jsonObject().optional().describe('instead of payload_hash: the hub hashes it'),
);
const word = shape(() => z.string().min(1).max(GATE_WORD_CHARS_MAX));
const policy = shape(() =>
  word().nullish().describe('the rule that demands it; the same word is said at consume'),
);
const reason = shape(() => z.string().max(GATE_REASON_CHARS_MAX).nullish());
const waitMs = shape(() =>
  z.int().min(0).max(WAIT_MS_MAX).optional().describe('wait for the decision'),
);
export const proofText = shape(() =>
  z.string().max(128).nullish().describe('from people.prove: that a person is there'),
);

export const gateState = shape(() =>
  z.enum([
    'pending',
    'approved',
    'denied',
    'expired',
    'withdrawn',
    'superseded',
    'consumed',
    'lapsed',
  ]),
);

/** A gate as every door shows it. */
export const gateView = shape(() =>
  z.object({
    gate_id: z.string(),
    state: gateState(),
    asker: z.string(),
    action: z.string(),
    subject: z.string(),
    tier: z.int(),
    by: z.object({ kinds: z.array(z.string()), names: z.array(z.string()), count: z.int() }),
    asked_at: seconds(),
    deadline_at: seconds().nullable().describe('null: it waits for ever'),
    thread: z.string().nullable(),
    payload_hash: z.string().nullable(),
    policy: z.string().nullable(),
    turn_id: z.string().nullable(),
    keep: z.boolean(),
    message_id: z.string().nullable().describe('the post that is held until it is decided'),
    approvals: z.array(
      z.object({
        by: z.string(),
        proof: z.enum(['passphrase', 'passkey', 'owner, not proved']),
        at: seconds(),
        reason: z.string().nullable(),
      }),
    ),
    decided_by: z
      .string()
      .nullable()
      .describe('whose word the state is; null: time’s, or nobody’s yet'),
    decided_at: seconds().nullable(),
    reason: z.string().nullable(),
    use_until: seconds().nullable().describe('approved: use it before then'),
  }),
);

export type GateOutput = z.output<ReturnType<typeof gateView>>;

export const gateAsk = operation({
  id: 'gates.ask',
  name: 'gates_ask',
  title: 'Ask a person',
  doc: 'Ask people to allow one action. No answer is no approval. Then gates.get with wait_ms; approved, gates.consume before you act.',
  access: 'writer',
  toolset: 'work',
  hints: ADDS,
  input: () =>
    z.strictObject({
      action: word(),
      subject: z.string().min(1).max(GATE_SUBJECT_CHARS_MAX),
      tier: z.union([z.literal(1), z.literal(2)]).default(1),
      by: z
        .strictObject({
          kinds: z
            .array(z.enum(['human', 'admin']))
            .max(2)
            .optional(),
          names: z.array(z.string().min(1).max(128)).max(GATE_NAMES_LIST_MAX).optional(),
          count: z.int().min(1).max(GATE_COUNT_LIST_MAX).optional(),
        })
        .optional()
        .describe('who decides, and how many different people'),
      deadline: z
        .union([
          z
            .number()
            .min(1)
            .max(GATE_DEADLINE_MS_MAX / 1_000),
          z.literal('never'),
        ])
        .default(GATE_DEADLINE_MS / 1_000)
        .describe('seconds; then it expires, which is no approval'),
      thread: word().nullish(),
      payload: payload(),
      payload_hash: hash(),
      policy: policy(),
      keep: z.boolean().default(false).describe('outlives the turn that asked'),
      tell: z
        .boolean()
        .default(true)
        .describe('false: you wait for it; no message says how it ended'),
      wait_ms: waitMs(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => gateView(),
});

export const gateGet = operation({
  id: 'gates.get',
  name: 'gates_get',
  title: 'What became of a gate',
  doc: 'A gate of yours. wait_ms waits until it is decided: approved, or denied, expired, withdrawn … by whom and why.',
  access: 'writer',
  toolset: 'work',
  hints: READS,
  input: () => z.strictObject({ gate_id: gateId(), wait_ms: waitMs() }),
  output: () => gateView(),
});

export const gateConsume = operation({
  id: 'gates.consume',
  name: 'gates_consume',
  title: 'Use an approval',
  doc: 'Use an approved gate for what it was asked for, once, right before you act.',
  access: 'writer',
  toolset: 'work',
  hints: { ...REMOVES, destructiveHint: false },
  input: () =>
    z.strictObject({
      gate_id: gateId(),
      payload: payload(),
      payload_hash: hash(),
      policy: policy(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => gateView(),
});

export const gateWithdraw = operation({
  id: 'gates.withdraw',
  name: 'gates_withdraw',
  title: 'Take a gate back',
  doc: 'Stop asking: the gate ends without a decision.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({ gate_id: gateId(), reason: reason(), idempotency_key: idempotencyKey() }),
  output: () => gateView(),
});

export const gateList = operation({
  id: 'gates.list',
  name: 'gates_list',
  title: 'List gates',
  doc: 'Gates in a state, oldest first: people see all of them, an agent its own.',
  access: 'writer',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      state: z.union([gateState(), z.literal('all')]).default('pending'),
      mine: z.boolean().default(false).describe('those you asked for'),
      after: gateId().optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () => z.object({ gates: z.array(gateView()), next: z.string().nullable() }),
});

export const gateDecide = operation({
  id: 'gates.decide',
  name: 'gates_decide',
  title: 'Decide a gate',
  doc: 'For a person who has proved to be one: approve or deny. A denial needs a reason.',
  // Whoever it is not for is told so by the law, with a code of its own and on the record.
  access: 'reader',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      gate_id: gateId(),
      decision: z.enum(['approve', 'deny']),
      reason: reason(),
      payload_hash: hash(),
      proof: proofText(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => gateView(),
});
