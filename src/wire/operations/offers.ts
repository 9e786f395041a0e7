/** Resources on offer, capability cards, and choosing an agent by them. */
import { z } from 'zod';
import {
  OFFER_CAPACITY_MAX,
  OFFER_NAME_CHARS_MAX,
  PAGE_ROWS_MAX,
} from '../../core/work/work-limits.ts';
import { operation, READS, REMOVES, SETS } from '../operation.ts';
import { idempotencyKey, jsonObject, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const word = shape(() => z.string().min(1).max(OFFER_NAME_CHARS_MAX));
const DAY_S = 86_400;

const offer = shape(() =>
  z.object({
    agent_id: z.string(),
    kind: z.string(),
    name: z.string(),
    key: z.string(),
    capacity: z.int().min(1),
    meta: jsonObject().nullable(),
    offered_at: seconds(),
    expires_at: seconds(),
  }),
);

export const offerMake = operation({
  id: 'offers.make',
  name: 'offers_make',
  title: 'Offer a resource',
  doc: 'Offer a resource (kind llm, compute, fs …) for a while; repeat to refresh. Capacity is told, not reserved.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () =>
    z.strictObject({
      kind: word(),
      name: word(),
      capacity: z.int().min(1).max(OFFER_CAPACITY_MAX).default(1),
      meta: jsonObject().nullish(),
      ttl_seconds: z.number().min(1).max(DAY_S).optional(),
    }),
  output: () => offer(),
});

export const offerWithdraw = operation({
  id: 'offers.withdraw',
  name: 'offers_withdraw',
  title: 'Withdraw an offer',
  doc: 'Take one of your offers back.',
  access: 'writer',
  toolset: 'work',
  hints: REMOVES,
  input: () => z.strictObject({ kind: word(), name: word(), idempotency_key: idempotencyKey() }),
  output: () => offer(),
});

export const offerList = operation({
  id: 'offers.list',
  name: 'offers_list',
  title: 'List offers',
  doc: 'Resources on offer, by agent or kind, a page at a time.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      agent_id: z.string().max(256).optional(),
      kind: z.string().max(OFFER_NAME_CHARS_MAX).optional(),
      after: z.string().max(1024).optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () => z.object({ offers: z.array(offer()), next: z.string().nullable() }),
});

const cardView = shape(() => z.looseObject({ agent_id: z.string(), advertised_at: seconds() }));

export const cardAdvertise = operation({
  id: 'cards.advertise',
  name: 'cards_advertise',
  title: 'Advertise a card',
  doc: 'Say what you can do: A2A agent-card fields (description, skills …) plus task_classes and model.',
  access: 'writer',
  toolset: 'work',
  hints: SETS,
  input: () => z.strictObject({ card: jsonObject() }),
  output: () => cardView(),
});

export const cardWithdraw = operation({
  id: 'cards.withdraw',
  name: 'cards_withdraw',
  title: 'Withdraw a card',
  doc: 'Take your card back.',
  access: 'writer',
  toolset: 'work',
  hints: REMOVES,
  input: () => z.strictObject({ idempotency_key: idempotencyKey() }),
  output: () => z.object({ withdrawn: z.boolean() }),
});

export const cardManifest = operation({
  id: 'cards.manifest',
  name: 'cards_manifest',
  title: 'The manifest',
  doc: 'Every agent’s card, a page at a time.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      after: z.string().max(256).optional(),
      limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
    }),
  output: () => z.object({ cards: z.array(cardView()), next: z.string().nullable() }),
});

const candidate = shape(() =>
  z.object({
    agent_id: z.string(),
    availability: z.string(),
    claims: z.int(),
    matches: z.array(z.string()),
    missing: z.array(z.string()),
    why: z.string(),
  }),
);

export const cardRoute = operation({
  id: 'cards.route',
  name: 'cards_route',
  title: 'Choose an agent',
  doc: 'The best available agent for a piece of work, by class, skills or text, and why.',
  access: 'reader',
  toolset: 'work',
  hints: READS,
  input: () =>
    z.strictObject({
      class: z.string().max(128).optional(),
      skills: z.array(z.string().min(1).max(256)).max(64).optional(),
      text: z.string().max(8192).optional(),
    }),
  output: () =>
    z.object({
      class: z.string().nullable(),
      chosen: candidate().nullable(),
      runners_up: z.array(candidate()),
      why: z.string(),
    }),
});
