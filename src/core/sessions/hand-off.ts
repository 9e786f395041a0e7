/**
 * Handing a session on: one item that says to whom, why and with what; one new holder; the history as it
 * was filtered, once and for good [HO3]; and the claims of the holder offered along [HO4]. A session that
 * comes back too often is parked instead, and a person looks at it [HO5].
 */

import { raiseItem, settleItem } from '../docket/docket.ts';
import { isPerson } from '../docket/docket-commands.ts';
import { type Decision, isRefusal, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { toChannel } from '../law/name.ts';
import type { Principal } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { isProse } from '../law/text.ts';
import { checkWriter } from '../law/writer.ts';
import { type MessageSent, serverMessage } from '../talk/message.ts';
import type { ClaimOffered } from '../work/claim/claim-events.ts';
import { decideHandOff as decideClaimHandOff } from '../work/claim/hand-off.ts';
import { checkNoneOpen, keepRanges, unfit } from './items.ts';
import { checkGrowth, checkLength } from './session.ts';
import { findSession } from './session-access.ts';
import type {
  HandOffSession,
  SessionDecided,
  SessionHandedOff,
  SessionParked,
} from './session-events.ts';
import {
  HANDOFF_CLAIMS_LIST_MAX,
  HANDOFF_RETURNS,
  HANDOFF_WHY_CHARS_MAX,
} from './session-limits.ts';
import { type Session, type SessionView, subjectOf } from './session-state.ts';

export interface HandOffAnswer {
  readonly id: string;
  /** It went round too often: nothing was handed on, a person was asked. */
  readonly isParked: boolean;
  /** Claims that the next holder takes with its first append. */
  readonly claims: readonly string[];
}

export function decideHandOff(
  world: WorldView,
  command: HandOffSession,
): Decision<SessionDecided, HandOffAnswer> {
  const { by, at, id, to, why } = command;
  const session = findSession(world, by, id, 'work');
  if ('refused' in session) return session;
  const refused =
    checkWriter(by, world.settings) ??
    checkLength(session, command.expectedLength) ??
    checkRecipient(world, session, to) ??
    checkWhy(why) ??
    checkNoneOpen(session.open) ??
    checkGrowth(world, by, session, 1);
  if (refused !== null) return refused;
  const returns = session.trail.filter((one) => one === to).length;
  if (returns > HANDOFF_RETURNS && !isPerson(by)) {
    const event: SessionParked = { type: 'session.parked', at, by: by.id, id, to, why, returns };
    return { events: [event], answer: { id, isParked: true, claims: [] } };
  }
  const kept = command.keep === null ? null : keepRanges(session.places, command.keep);
  if (isRefusal(kept)) return kept;
  const offered = offersOf(world, session, command);
  if (isRefusal(offered)) return offered;
  const { claims, offers } = offered;
  const event: SessionHandedOff = {
    ...{ type: 'session.handed-off', at, by: by.id, id, holder: session.holder, to, why, claims },
    items: [command.item],
    ...(kept !== null && {
      ...{ kept, cut: [...session.places], previousCut: session.lastCut },
    }),
  };
  const told = tellRecipient(world, event, by);
  return { events: [event, ...offers, told], answer: { id, isParked: false, claims } };
}

/** The holder's claims are offered to whom the session goes; an offer binds nobody [CM8]. */
function offersOf(
  world: WorldView,
  { holder }: SessionView,
  { at, to, claims, isRecipientThere }: HandOffSession,
): { readonly claims: readonly string[]; readonly offers: ClaimOffered[] } | Refusal {
  const held = [...world.claims.claims.values()].filter(({ owner }) => owner === holder);
  const ids = claims === null ? held.map(({ id }) => id) : [...new Set(claims)];
  if (ids.length > HANDOFF_CLAIMS_LIST_MAX) {
    return refuseFull('HANDOFF_CLAIMS_LIST_MAX', HANDOFF_CLAIMS_LIST_MAX);
  }
  const by: Principal = { id: holder, kind: 'agent', tier: 'standard' };
  const presence = () => (isRecipientThere === false ? 'absent' : 'present');
  const context = { claimsPerAgent: world.settings.claimsPerAgent, presenceOf: presence } as const;
  const offers: ClaimOffered[] = [];
  for (const id of ids) {
    const offer = decideClaimHandOff(
      world.claims,
      {
        type: 'claim.hand-off',
        by,
        at,
        id,
        epoch: null,
        idempotency: null,
        to,
        ttlMs: null,
        note: null,
      },
      context,
    );
    if (isRefusal(offer)) return offer;
    offers.push(...offer.events);
  }
  return { claims: ids, offers };
}

function tellRecipient(world: WorldView, event: SessionHandedOff, by: Principal): MessageSent {
  const { id, holder, to, why, claims, at } = event;
  const body = {
    ...{ event: 'session_handed_off', session_id: id, from: holder, by: by.id, why, claims },
    remedy: 'read it with sessions.get and go on; your first sessions.append takes the claims',
  };
  return serverMessage(world, toChannel(to), JSON.stringify(body), { at, actor: by });
}

/** For evolve: a person is asked. */
export function raiseParked(world: World, event: SessionParked): void {
  const { at, by, id, to, returns } = event;
  raiseItem(world, at, {
    ...{ kind: 'alert', agent: by, reason: 'hand-offs go round', thread: null },
    subject: subjectOf(id),
    text: `${id} would go to ${to} for the ${returns + 1}th time; it goes on when you close this, or hand it on yourself`,
  });
}

/** For evolve: it goes on. */
export function release(world: World, session: Session, at: number, by: string): void {
  if (session.parkedAt === null) return;
  unpark(session);
  settleItem(world, at, 'alert', subjectOf(session.id), 'a person looked', by);
}

/** What went round before a person looked counts no more. */
export function unpark(session: Session): void {
  session.parkedAt = null;
  session.trail = [session.holder];
}

function checkRecipient(world: WorldView, { id, holder }: SessionView, to: string): Refusal | null {
  if (to === holder) return unfit('to', `is ${to}, who holds ${id} already`);
  if (world.agents.has(to)) return null;
  return refuse(
    'recipient.unknown',
    `${to.slice(0, 128)} is not known here; channels.list_agents shows who is`,
    { recipient: to.slice(0, 128) },
  );
}

function checkWhy(why: string): Refusal | null {
  if (why.trim() !== '' && isProse(why, HANDOFF_WHY_CHARS_MAX)) return null;
  return unfit('why', `says in 1 to ${HANDOFF_WHY_CHARS_MAX} characters why it is handed on`);
}
