/**
 * Work: claims, plan, offers, cards and findings as the world knows them together.
 * A claim moves its task on the plan [WK1]; what happens to claims is told on
 * `sox/claims`, and whose turn has come is told in private on `sox/to/<agent>` [WK2];
 * an agent that goes offline takes its card with it, and claims lapse by deadline.
 */

import { type Decision, isRefusal, type Refusal } from '../law/decider.ts';
import { CLAIMS_CHANNEL, toChannel } from '../law/name.ts';
import { type Principal, SERVER } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { checkTrust } from '../law/writer.ts';
import { agentOf, checkAgentRoom } from '../talk/agent.ts';
import { type MessageSent, serverMessage } from '../talk/message.ts';
import { goneSince } from '../talk/presence.ts';
import {
  type AdvertiseCard,
  type CardEvent,
  decideCard,
  dropCard,
  evolveCard,
  type WithdrawCard,
} from './card.ts';
import type { ClaimCommand, ClaimEvent } from './claim/claim-events.ts';
import { evolveClaims } from './claim/claim-evolve.ts';
import { abandonClaims, decideClaim, expireClaims, nextExpiry } from './claim/claims.ts';
import {
  decideFinding,
  evolveFinding,
  type FindingEvent,
  type LogRecall,
  type RecordFinding,
} from './finding.ts';
import {
  decideOffer,
  evolveOffer,
  type MakeOffer,
  type OfferEvent,
  offerDeadline,
  offersDue,
  type WithdrawOffer,
  withdrawAll,
} from './offer.ts';
import type { PlanCommand, PlanEvent } from './plan/plan-events.ts';
import { superviseDue } from './plan/supervise.ts';
import { decidePlan, evolvePlan } from './plan/task.ts';
import { onClaimEnded, onClaimTaken } from './plan/task-claim.ts';
import { SUPERVISE_EVERY_MS } from './work-limits.ts';

export type WorkCommand =
  | ClaimCommand
  | PlanCommand
  | MakeOffer
  | WithdrawOffer
  | AdvertiseCard
  | WithdrawCard
  | RecordFinding
  | LogRecall;

export type WorkEvent = ClaimEvent | PlanEvent | OfferEvent | CardEvent | FindingEvent;

export function decideWork(
  world: WorldView,
  command: WorkCommand,
): Decision<WorkEvent | MessageSent, unknown> {
  const full = checkAgentRoom(world, command.by);
  if (full !== null) return full;
  switch (command.type) {
    case 'task.declare':
    case 'task.update':
    case 'task.remove':
    case 'progress.post':
      return decidePlan(world.plan, command, world.settings);
    case 'offer.make':
    case 'offer.withdraw':
      return decideOffer(world.offers, command, world.settings);
    case 'card.advertise':
    case 'card.withdraw':
      return decideCard(world.cards, command, world.settings);
    case 'finding.record':
    case 'recall.log':
      return decideFinding(world.findings, command, world.settings);
    default: {
      // What gives back is open to all; whatever else is done to a claim binds others.
      const isGivingBack = /^claim\.(release|unwait|forget)$/.test(command.type);
      const untrusted = isGivingBack ? null : checkTrust(command.by, world.settings);
      if (untrusted !== null) return untrusted;
      const decision = decideClaim(world.claims, command, {
        claimsPerAgent: world.settings.claimsPerAgent,
        presenceOf: (agent) => presenceOf(world, agent, command),
      });
      if (isRefusal(decision)) return withWayOut(world, decision, command.at);
      return { events: withEchoes(world, decision.events, command.by), answer: decision.answer };
    }
  }
}

export function evolveWork(world: World, event: WorkEvent): void {
  // Who only ever works, and never says a word, can be told things and be handed work too.
  const actor = actorOf(event);
  if (actor !== null && actor !== SERVER.id) agentOf(world, actor);
  switch (event.type) {
    case 'task.declared':
    case 'task.updated':
    case 'task.removed':
    case 'task.escalated':
    case 'progress.noted':
      evolvePlan(world.plan, event);
      return armSupervisor(world, event.at);
    case 'offer.made':
    case 'offer.refreshed':
    case 'offer.expired':
    case 'offer.withdrawn':
      evolveOffer(world.offers, event);
      return armOffers(world, event.type === 'offer.made' ? event.offer.agent : event.agent);
    case 'card.advertised':
    case 'card.dropped':
      return evolveCard(world.cards, event);
    case 'finding.recorded':
    case 'recall.logged':
      return evolveFinding(world.findings, event);
    default:
      evolveClaims(world.claims, event);
      return armClaims(world);
  }
}

function actorOf(event: WorkEvent): string | null {
  // The answer that is kept follows an event of its own, which says whether somebody is known by it.
  if (event.type === 'claim.keyed') return null;
  if ('by' in event) return event.by;
  if (event.type === 'offer.made') return event.offer.agent;
  return event.type === 'card.advertised' ? event.agent : null;
}

/** What time has done to claims, and what follows from it. */
export function lapsedClaims(world: WorldView, at: number): (WorkEvent | MessageSent)[] {
  return withEchoes(world, expireClaims(world.claims, at), null);
}

export function holdsWork(world: WorldView, agent: string): boolean {
  return world.claims.counts.has(agent) || world.claims.waitsByAgent.has(agent);
}

/** What becomes of an agent's claims, waits, offers and card when it is forgotten. */
export function abandonedWork(
  world: WorldView,
  agent: string,
  at: number,
): (WorkEvent | MessageSent)[] {
  return [
    ...withEchoes(world, abandonClaims(world.claims, agent, at), null),
    ...withdrawAll(world.offers, agent, at),
    ...dropCard(world.cards, agent, at),
  ];
}

export function lapsedOffers(world: WorldView, agent: string, at: number): OfferEvent[] {
  return offersDue(world.offers, agent, at);
}

export function supervised(world: WorldView, at: number): (PlanEvent | MessageSent)[] {
  const isHeld = (id: string): boolean => world.claims.claims.get(id) !== undefined;
  const events = superviseDue(world.plan, isHeld, at, world.settings.stalledAfterMs);
  return [...events, ...tellAll(world, events, { at, actor: null })];
}

export function armClaims(world: World): void {
  const at = nextExpiry(world.claims);
  if (at !== null) world.deadlines.push({ at, kind: 'claims', agent: '' });
}

export function armOffers(world: World, agent: string): void {
  const at = offerDeadline(world.offers, agent);
  if (at !== null) world.deadlines.push({ at, kind: 'offers', agent });
}

export function armSupervisor(world: World, at: number): void {
  if (world.plan.watched.size === 0) return;
  const everyMs = world.settings.superviseEveryMs ?? SUPERVISE_EVERY_MS;
  world.deadlines.push({ at: at + everyMs, kind: 'supervisor', agent: '' });
}

function presenceOf(
  world: WorldView,
  name: string,
  command: ClaimCommand,
): 'present' | 'absent' | 'unknown' {
  const agent = world.agents.get(name);
  if (agent === undefined) return 'unknown';
  if (command.type === 'claim.hand-off' && command.isRecipientThere !== undefined) {
    return command.isRecipientThere ? 'present' : 'absent';
  }
  // One that never reported is taken at its word when it acts; only known silence is absence.
  return agent.presence.beatAt > 0 && agent.presence.state === 'offline' ? 'absent' : 'present';
}

/** Who is gone cannot be asked: then a refusal says since when, and what a person can do [WK5]. */
function withWayOut(world: WorldView, refusal: Refusal, at: number): Refusal {
  const { holder, id, epoch } = refusal.detail ?? {};
  // Only a claim has an epoch; the turn of a waiter passes by itself.
  if (typeof holder !== 'string' || epoch === undefined) return refusal;
  const since = goneSince(world, holder, at);
  if (since === null) return refusal;
  const minutes = Math.floor((at - since) / 60_000);
  return {
    ...refusal,
    message: `${refusal.message}. ${holder} has been gone for ${minutes} min; a person frees it with: synod release ${id} --force`,
    detail: { ...refusal.detail, gone_since: since / 1000 },
  };
}

/** The events, what they do to the plan, and what is said about them. */
function withEchoes(
  world: WorldView,
  events: readonly ClaimEvent[],
  actor: Principal | null,
): (WorkEvent | MessageSent)[] {
  const plan = events.flatMap((event) => planEchoes(world, event));
  const at = events[0]?.at ?? 0;
  return [...events, ...plan, ...tellAll(world, [...events, ...plan], { at, actor })];
}

function planEchoes(world: WorldView, event: ClaimEvent): PlanEvent[] {
  const { plan, claims } = world;
  switch (event.type) {
    case 'claim.taken':
      return onClaimTaken(plan, { taskId: event.id, agent: event.by, at: event.at });
    case 'claim.updated': {
      if (event.status !== 'done' && event.status !== 'failed') return [];
      const note = event.note ?? claims.claims.get(event.id)?.note;
      const end = { taskId: event.id, agent: event.by, at: event.at, outcome: event.status };
      return onClaimEnded(plan, note == null ? end : { ...end, note });
    }
    case 'claim.released':
    case 'claim.expired': {
      const outcome = event.type === 'claim.released' ? 'released' : 'expired';
      return onClaimEnded(plan, { taskId: event.id, agent: event.owner, at: event.at, outcome });
    }
    default:
      return [];
  }
}

/** Messages about what happened: to everybody who follows `sox/claims`, and to whom it concerns. */
function tellAll(
  world: WorldView,
  events: readonly WorkEvent[],
  { at, actor }: { readonly at: number; readonly actor: Principal | null },
): MessageSent[] {
  const said: MessageSent[] = [];
  const say = (channel: string, body: unknown, of: Principal | null): void => {
    const before = said.filter((one) => one.channel === channel).length;
    const message = serverMessage(world, channel, JSON.stringify(body), { at, actor: of });
    said.push({ ...message, seq: message.seq + before });
  };
  const isFollowed = (world.channels.get(CLAIMS_CHANNEL)?.members.size ?? 0) > 0;
  for (const event of events) {
    if (event.type === 'wait.reserved') {
      say(
        toChannel(event.agent),
        {
          event: 'claim_free',
          task_id: event.id,
          wait: event.number,
          reserved_until: event.until / 1000,
          remedy: 'take it before then with claims.take; after that the next in the queue is asked',
        },
        null,
      );
    }
    if (event.type === 'claim.offered' && event.to !== null) {
      const remedy =
        'claims.take takes it over; until then it is theirs, and nothing is asked of you';
      const body = { event: 'claim_offered', task_id: event.id, from: event.by, remedy };
      say(toChannel(event.to), body, actor);
    }
    if (event.type === 'claim.handed-off') {
      const body = { event: 'claim_accepted', task_id: event.id, by: event.to, epoch: event.epoch };
      say(toChannel(event.by), body, actor);
    }
    if (event.type === 'task.escalated' || (isFollowed && isTold(event))) {
      say(CLAIMS_CHANNEL, publicView(event), event.type === 'task.escalated' ? null : actor);
    }
  }
  return said;
}

function isTold(event: WorkEvent): boolean {
  return /^claim\.(taken|renewed|updated|offered|handed-off|released|expired)$/.test(event.type);
}

/** As everybody may see it: no checkpoint, no idempotency key. */
function publicView(event: WorkEvent): Record<string, unknown> {
  const { type, at, ...rest } = event as WorkEvent & Record<string, unknown>;
  const { checkpoint: _checkpoint, ...shown } = rest as Record<string, unknown>;
  return { event: type.replace(/[.-]/g, '_'), ...shown, at: at / 1000 };
}
