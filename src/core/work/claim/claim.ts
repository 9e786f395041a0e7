/**
 * Claims: work held for a time. At most one live claim covers a path in a worktree [CM1]; what an
 * agent holds itself never stands in its own way. Taking starts a tenure with a fresh epoch;
 * renewing extends it and loses nothing [CM2]; releasing ends it. The status of
 * the work moves only along the life cycle [CM6]; every change of it is one version more [CM5].
 */

import { type Decision, type Refusal, refuse } from '../../law/decider.ts';
import type { Principal } from '../../law/principal.ts';
import { checkShare } from '../../law/shares.ts';
import {
  checkActor,
  checkEpoch,
  checkId,
  checkText,
  checkVersion,
  holdingOf,
  parseTtl,
  refuseCycle,
  refuseHeld,
  refuseOverlap,
  refuseReserved,
} from './claim-check.ts';
import type {
  CheckpointClaim,
  ClaimChange,
  ClaimCheckpointed,
  ClaimReleased,
  ClaimRenewed,
  ClaimTaken,
  ClaimUpdated,
  ReleaseClaim,
  RenewClaim,
  TakeClaim,
  UpdateClaim,
  WaitEvent,
} from './claim-events.ts';
import { changesOf, createClaim } from './claim-evolve.ts';
import { CHECKPOINT_CHARS_MAX, EVIDENCE_CHARS_MAX, OVERLAPS_SHOWN_MAX } from './claim-limits.ts';
import {
  type BookView,
  type Claim,
  type ClaimStatus,
  type ClaimView,
  viewClaim,
  type Wait,
} from './claim-state.ts';
import {
  doMeet,
  endOf,
  findCycle,
  findHeld,
  findReserved,
  passOn,
  type Wish,
} from './claim-wait.ts';
import { parseScope, type Scope } from './scope.ts';

/** What lives outside the book. */
export interface ClaimContext {
  /** How many claims one agent may hold; null is the bound of the law. */
  readonly claimsPerAgent: number | null;
  presenceOf(agent: string): 'present' | 'absent' | 'unknown';
}

export interface TakenAnswer {
  readonly claim: ClaimView;
  readonly isRenewal: boolean;
  /** Whose checkpoint the claim begins with. */
  readonly inheritedFrom: string | null;
}

/** Staying is always allowed; an empty row is an end. */
const NEXT_STATUSES: Readonly<Record<ClaimStatus, readonly ClaimStatus[]>> = {
  claimed: ['working', 'done', 'failed'],
  working: ['input_required', 'done', 'failed'],
  input_required: ['working', 'done', 'failed'],
  done: [],
  failed: [],
};

export function decideTake(
  book: BookView,
  command: TakeClaim,
  context: ClaimContext,
): Decision<ClaimTaken | ClaimRenewed | WaitEvent, TakenAnswer> {
  const { by, at, id, note, git } = command;
  const bad =
    checkActor(command) ?? checkId(book, id) ?? checkText('note', note) ?? checkText('git', git);
  if (bad !== null) return bad;
  const known = book.claims.get(id) ?? null;
  if (known !== null && known.owner !== by.id) return refuseHeld(known, at);
  const fenced = known === null ? null : checkEpoch(known, command.epoch);
  if (fenced !== null) return fenced;
  const ttlMs = parseTtl(command.ttlMs, known?.ttlMs);
  if (typeof ttlMs !== 'number') return ttlMs;
  const asked = command.scope === null ? null : parseScope(command.scope);
  if (asked !== null && 'refused' in asked) return asked;
  const taken = known === null || asked !== null ? checkFree(book, by.id, id, asked, at) : null;
  if (taken !== null) return taken;
  if (known === null) {
    const full = checkQuota(book, by, context);
    if (full !== null) return full;
  }
  const epoch = book.counter + 1;
  const scope = asked ?? known?.scope ?? null;
  const ended = satisfied(book, by.id, { id, scope });
  const gone = new Set(known !== null && asked !== null ? [known] : []);
  const change = { gone, come: [{ owner: by.id, id, scope }], ended };
  const cycle = known !== null && asked === null ? null : findCycle(book, by.id, change);
  if (cycle !== null) return refuseCycle(cycle);
  const freed: Wish[] = [...ended].filter((wait) => wait.isReserved);
  if (known !== null && asked !== null) freed.push({ id: null, scope: known.scope });
  const after = [...takenUp(ended, at), ...passOn(book, change, freed, at)];
  if (known !== null) {
    const event: ClaimRenewed = {
      type: 'claim.renewed',
      at,
      by: by.id,
      id,
      epoch,
      ttlMs,
      ...(asked !== null && { scope: asked }),
      ...(note !== null && { note }),
      ...(git !== null && { git }),
    };
    return {
      events: [event, ...after],
      answer: { claim: changedView(known, event), isRenewal: true, inheritedFrom: null },
    };
  }
  const inherited = book.inherited.get(id);
  const inheritedFrom = inherited?.from ?? null;
  const event: ClaimTaken = {
    type: 'claim.taken',
    at,
    by: by.id,
    id,
    epoch,
    scope,
    ttlMs,
    note,
    git,
    inheritedFrom,
  };
  const claim = viewClaim(createClaim(event, inherited?.checkpoint ?? null));
  return { events: [event, ...after], answer: { claim, isRenewal: false, inheritedFrom } };
}

/** The same tenure for longer: the epoch stays. */
export function decideRenew(
  book: BookView,
  command: RenewClaim,
): Decision<ClaimRenewed, ClaimView> {
  const { by, at, id } = command;
  const claim = holdingOf(book, command);
  if ('refused' in claim) return claim;
  const ttlMs = parseTtl(command.ttlMs, claim.ttlMs);
  if (typeof ttlMs !== 'number') return ttlMs;
  const { epoch } = claim;
  const event: ClaimRenewed = { type: 'claim.renewed', at, by: by.id, id, epoch, ttlMs };
  return { events: [event], answer: changedView(claim, event) };
}

export function decideRelease(
  book: BookView,
  command: ReleaseClaim,
): Decision<ClaimReleased | WaitEvent, ClaimView> {
  const { by, at, id, evidence } = command;
  const claim = releasable(book, command);
  if ('refused' in claim) return claim;
  const tooLong = checkText('evidence', evidence, EVIDENCE_CHARS_MAX);
  if (tooLong !== null) return tooLong;
  const { owner } = claim;
  const event: ClaimReleased = { type: 'claim.released', at, by: by.id, id, owner, evidence };
  const turns = passOn(book, { gone: new Set([claim]) }, [claim], at);
  return { events: [event, ...turns], answer: viewClaim(claim) };
}

export function decideUpdate(
  book: BookView,
  command: UpdateClaim,
): Decision<ClaimUpdated, ClaimView> {
  const { by, at, id, note, dataRef } = command;
  const claim = holdingOf(book, command);
  if ('refused' in claim) return claim;
  const bad =
    checkVersion(claim, command.expectedVersion) ??
    checkText('note', note) ??
    checkText('data_ref', dataRef);
  if (bad !== null) return bad;
  const status = parseMove(claim, command.status ?? claim.status);
  if (typeof status !== 'string') return status;
  const event: ClaimUpdated = {
    type: 'claim.updated',
    at,
    by: by.id,
    id,
    version: claim.version + 1,
    status,
    ...(note !== null && { note }),
    ...(dataRef !== null && { dataRef }),
  };
  return { events: [event], answer: changedView(claim, event) };
}

export function decideCheckpoint(
  book: BookView,
  command: CheckpointClaim,
): Decision<ClaimCheckpointed, ClaimView> {
  const { by, at, id, checkpoint } = command;
  const claim = holdingOf(book, command);
  if ('refused' in claim) return claim;
  const bad =
    checkVersion(claim, command.expectedVersion) ??
    checkText('checkpoint', checkpoint, CHECKPOINT_CHARS_MAX);
  if (bad !== null) return bad;
  const version = claim.version + 1;
  const event: ClaimCheckpointed = {
    type: 'claim.checkpointed',
    at,
    by: by.id,
    id,
    version,
    checkpoint,
  };
  return { events: [event], answer: changedView(claim, event) };
}

function releasable(book: BookView, command: ReleaseClaim): Claim | Refusal {
  const { by, id, epoch, isForced } = command;
  const claim = book.claims.get(id);
  // A person answers for the agents, and may free what one of them left behind [WK7].
  const mayForce = by.kind === 'admin' || by.kind === 'human';
  if (claim === undefined || !isForced || !mayForce) return holdingOf(book, command);
  return checkEpoch(claim, epoch) ?? claim;
}

function checkFree(
  book: BookView,
  agent: string,
  id: string,
  scope: Scope | null,
  at: number,
): Refusal | null {
  if (scope !== null) {
    const found = findHeld(book, agent, scope, { limit: OVERLAPS_SHOWN_MAX });
    if (found.length > 0) return refuseOverlap(id, scope, found, at);
  }
  const reserved = findReserved(book, agent, { id, scope });
  return reserved === null ? null : refuseReserved(id, reserved, at);
}

export function checkQuota(
  book: BookView,
  by: Pick<Principal, 'id' | 'tier'>,
  { claimsPerAgent }: ClaimContext,
): Refusal | null {
  const mine = book.counts.get(by.id) ?? 0;
  const full = checkShare('CLAIMS_MAX', by, book.claims.size, mine, 1, claimsPerAgent);
  if (full?.detail?.limit !== 'CLAIMS_PER_AGENT_MAX') return full;
  const message = `${by.id} holds ${full.detail.used} claims, and that is the most; release one first`;
  return refuse('claim.quota', message, { ...full.detail, holder: by.id });
}

/** The agent's own waits that come to their end when it has this: same id, or scopes that meet. */
export function satisfied(book: BookView, agent: string, has: Wish): Set<Wait> {
  const ended = new Set<Wait>();
  for (const wait of book.waitsByAgent.get(agent) ?? []) {
    if ((wait.id !== null && wait.id === has.id) || doMeet(wait.scope, has.scope)) ended.add(wait);
  }
  return ended;
}

export function takenUp(ended: ReadonlySet<Wait>, at: number): WaitEvent[] {
  return [...ended].map((wait) => endOf(wait, at, 'taken'));
}

/** The claim as the event will leave it. */
export function changedView(claim: Claim, event: ClaimChange): ClaimView {
  return viewClaim({ ...claim, ...changesOf(claim, event) });
}

function parseMove(claim: Claim, status: string): ClaimStatus | Refusal {
  if (status === claim.status) return claim.status;
  const next = NEXT_STATUSES[claim.status];
  const found = next.find((one) => one === status);
  if (found !== undefined) return found;
  const way =
    next.length === 0
      ? `${claim.status} is an end; release the claim`
      : `from ${claim.status} it goes to ${next.join(', ')}`;
  return refuse('claim.status', `${claim.id} cannot become ${status.slice(0, 40)}: ${way}`, {
    id: claim.id,
    status: claim.status,
    allowed: next,
  });
}
