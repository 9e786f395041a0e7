/** Offers, cards and choosing an agent by them. */

import { isRefusal } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import { type Card, manifestPage } from '../../../core/work/card.ts';
import { type Offer, offerKey, offersPage } from '../../../core/work/offer.ts';
import { type Candidate, routeTask } from '../../../core/work/route.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { cardRoute, offerMake } from '../../../wire/operations/offers.ts';
import { parseCard } from '../card-input.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers } from '../room.ts';
import { availabilityOf } from './presence.ts';

export const offerHandlers: Handlers<
  | 'offers.make'
  | 'offers.withdraw'
  | 'offers.list'
  | 'cards.advertise'
  | 'cards.withdraw'
  | 'cards.manifest'
  | 'cards.route'
> = {
  async 'offers.make'({ hub, by }, { kind, name, capacity, meta, ttl_seconds }) {
    const answer = await hub.submit({
      type: 'offer.make',
      by,
      at: hub.stamp(),
      kind,
      name,
      capacity,
      meta: meta == null ? null : JSON.stringify(meta),
      ttlMs: ttl_seconds === undefined ? null : ttl_seconds * 1000,
    });
    return isRefusal(answer) ? answer : offerView(answer);
  },

  async 'offers.withdraw'({ hub, by, platform }, input) {
    const { kind, name } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'offer.withdraw', by, at, kind, name, idempotency });
    return isRefusal(answer) ? answer : offerView(answer);
  },

  async 'offers.list'({ hub }, { agent_id: agent, kind, after, limit }) {
    return hub.ask((world) => {
      const page = offersPage(world.offers, { agent, kind, after, limit });
      return { offers: page.rows.map(offerView), next: page.next };
    });
  },

  async 'cards.advertise'({ hub, by }, input) {
    const card = parseCard(by.id, input.card);
    if (isRefusal(card)) return card;
    const answer = await hub.submit({ type: 'card.advertise', by, at: hub.stamp(), card });
    return isRefusal(answer) ? answer : cardView(answer);
  },

  async 'cards.withdraw'({ hub, by, platform }, input) {
    const idempotency = idempotencyOf(platform, input);
    const answer = await hub.submit({ type: 'card.withdraw', by, at: hub.stamp(), idempotency });
    return isRefusal(answer) ? answer : { withdrawn: true };
  },

  async 'cards.manifest'({ hub }, query) {
    return hub.ask((world) => {
      const page = manifestPage(world.cards, query);
      return { cards: page.rows.map(cardView), next: page.next };
    });
  },

  async 'cards.route'(room, wish) {
    const { hub, caller, activities } = room;
    const at = hub.stamp();
    return hub.ask((world) => {
      const route = routeTask(wish, world.cards.cards.values(), {
        availabilityOf: (agent) =>
          availabilityOf(world, agent, activities.find(caller.space, agent), at),
        claimsOf: (agent) => world.claims.counts.get(agent) ?? 0,
      });
      return {
        class: route.class,
        chosen: route.chosen === null ? null : candidateView(route.chosen),
        runners_up: route.runnersUp.map(candidateView),
        why: route.why,
      };
    });
  },
};

function offerView(offer: Offer): OutputOf<typeof offerMake> {
  const { agent, kind, name, capacity, meta, offeredAt, expiresAt } = offer;
  return {
    agent_id: agent,
    kind,
    name,
    key: offerKey(offer),
    capacity,
    meta: meta === null ? null : (readJson(meta) as Record<string, unknown>),
    offered_at: offeredAt / 1000,
    expires_at: expiresAt / 1000,
  };
}

/** The A2A fields keep their own spelling; ours are ours. */
function cardView({ agent, advertisedAt, taskClasses, meta, ...fields }: Card): {
  agent_id: string;
  advertised_at: number;
} & Record<string, unknown> {
  return {
    agent_id: agent,
    advertised_at: advertisedAt / 1000,
    ...fields,
    task_classes: [...taskClasses],
    meta: meta === null ? null : (readJson(meta) as unknown),
  };
}

type CandidateView = NonNullable<OutputOf<typeof cardRoute>['chosen']>;

function candidateView({ agent, matches, missing, why, ...rest }: Candidate): CandidateView {
  return { agent_id: agent, ...rest, matches: [...matches], missing: [...missing], why };
}
