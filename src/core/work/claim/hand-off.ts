/**
 * Handing a claim over: the holder offers it, and stays its holder until the one it is offered to takes
 * it. An offer binds nobody and counts against nobody [CM8]; taking is one step from holder to holder,
 * so that nobody comes in between, and all that a take is asked is asked then.
 */
import { type Decision, type Refusal, refuse } from '../../law/decider.ts';
import {
  type ClaimContext,
  changedView,
  checkQuota,
  satisfied,
  type TakenAnswer,
  takenUp,
} from './claim.ts';
import {
  checkActor,
  checkEpoch,
  checkText,
  holdingOf,
  parseTtl,
  refuseCycle,
  refuseOverlap,
  refuseReserved,
} from './claim-check.ts';
import type {
  ClaimHandedOff,
  ClaimOffered,
  HandOffClaim,
  TakeClaim,
  WaitEvent,
} from './claim-events.ts';
import { OVERLAPS_SHOWN_MAX, TTL_MS_MIN } from './claim-limits.ts';
import type { BookView, Claim, ClaimView } from './claim-state.ts';
import { findCycle, findHeld, findReserved, passOn, type Wish } from './claim-wait.ts';
import { parseScope } from './scope.ts';

/** To oneself: the offer is taken back. */
export function decideHandOff(
  book: BookView,
  command: HandOffClaim,
  context: ClaimContext,
): Decision<ClaimOffered, ClaimView> {
  const { by, at, id, to, note, ttlMs } = command;
  const claim = holdingOf(book, command);
  if ('refused' in claim) return claim;
  const isTakenBack = to === by.id && claim.offer !== null;
  const bad = checkText('note', note) ?? (isTakenBack ? null : checkRecipient(claim, to, context));
  if (bad !== null) return bad;
  const asked = ttlMs === null ? null : parseTtl(ttlMs);
  if (asked !== null && typeof asked !== 'number') return asked;
  const event: ClaimOffered = {
    type: 'claim.offered',
    at,
    by: by.id,
    id,
    to: isTakenBack ? null : to,
    ...(note !== null && !isTakenBack && { note }),
    ...(asked !== null && !isTakenBack && { ttlMs: asked }),
  };
  const answer = changedView(claim, event);
  // Said again it is no news: whoever it is offered to is told once.
  const isSame = JSON.stringify(answer.offer) === JSON.stringify(claim.offer);
  return { events: isSame ? [] : [event], answer };
}

/** The claim that a take would take over, if it was offered to who asks. */
export function offeredTo(book: BookView, { by, id }: TakeClaim): Claim | null {
  const claim = book.claims.get(id);
  return claim?.offer?.to === by.id ? claim : null;
}

export function decideAccept(
  book: BookView,
  claim: Claim,
  command: TakeClaim,
  context: ClaimContext,
): Decision<ClaimHandedOff | WaitEvent, TakenAnswer> {
  const { by, at, id, git } = command;
  const { owner, offer } = claim;
  const bad =
    checkActor(command) ??
    checkText('note', command.note) ??
    checkText('git', git) ??
    checkEpoch(claim, command.epoch);
  if (bad !== null) return bad;
  const wished = command.ttlMs ?? offer?.ttlMs ?? null;
  const ttlMs = parseTtl(wished, Math.max(TTL_MS_MIN, claim.dueAt - at));
  if (typeof ttlMs !== 'number') return ttlMs;
  const asked = command.scope === null ? null : parseScope(command.scope);
  if (asked !== null && 'refused' in asked) return asked;
  const scope = asked ?? claim.scope;
  const gone = new Set([claim]);
  if (scope !== null) {
    const found = findHeld(book, by.id, scope, { gone, limit: OVERLAPS_SHOWN_MAX });
    if (found.length > 0) return refuseOverlap(id, scope, found, at);
  }
  const reserved = asked === null ? null : findReserved(book, by.id, { id: null, scope });
  if (reserved !== null) return refuseReserved(id, reserved, at);
  const full = checkQuota(book, by, context);
  if (full !== null) return full;
  const ended = satisfied(book, by.id, { id, scope });
  const change = { gone, come: [{ owner: by.id, id, scope }], ended };
  const cycle = findCycle(book, by.id, change);
  if (cycle !== null) return refuseCycle(cycle);
  const note = command.note ?? offer?.note ?? null;
  const event: ClaimHandedOff = {
    type: 'claim.handed-off',
    at,
    by: owner,
    id,
    to: by.id,
    epoch: book.counter + 1,
    lapsesAt: at + ttlMs,
    ttlMs: wished === null ? claim.ttlMs : ttlMs,
    ...(note !== null && { note }),
    ...(asked !== null && { scope: asked }),
    ...(git !== null && { git }),
  };
  const freed: Wish[] = [...ended].filter((wait) => wait.isReserved);
  if (asked !== null) freed.push({ id: null, scope: claim.scope });
  return {
    events: [event, ...takenUp(ended, at), ...passOn(book, change, freed, at)],
    answer: { claim: changedView(claim, event), isRenewal: false, inheritedFrom: owner },
  };
}

function checkRecipient(claim: Claim, to: string, context: ClaimContext): Refusal | null {
  if (to === claim.owner) {
    return refuse(
      'claim.recipient-self',
      `${to} holds ${claim.id} already, and it is offered to nobody; renew it instead`,
    );
  }
  const presence = context.presenceOf(to);
  if (presence === 'present') return null;
  const why = presence === 'unknown' ? 'is not known here' : 'is not there now';
  return refuse(
    'claim.recipient-absent',
    `${to} ${why}; offer ${claim.id} to somebody who is, or release it`,
    { id: claim.id, recipient: to, presence },
  );
}
