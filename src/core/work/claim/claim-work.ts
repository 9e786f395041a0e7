/**
 * The work under a claim: its status, its notes and its checkpoint. A status moves only along
 * the life cycle [CM6]; every change draws a greater version, and a caller that says which
 * version it saw is refused when that is no longer the current one [CM5].
 */

import type { ClaimDecision } from './claim.ts';
import { checkText, checkVersion, holdingOf } from './claim-check.ts';
import type {
  CheckpointClaim,
  ClaimCheckpointed,
  ClaimUpdated,
  UpdateClaim,
} from './claim-events.ts';
import { CHECKPOINT_CHARS_MAX } from './claim-limits.ts';
import { type ClaimRefusal, refuseClaim } from './claim-refusal.ts';
import {
  type BookView,
  type Claim,
  type ClaimStatus,
  type ClaimView,
  viewClaim,
} from './claim-state.ts';

/** Staying is always allowed; an empty row is an end. */
export const NEXT_STATUSES: Readonly<Record<ClaimStatus, readonly ClaimStatus[]>> = {
  claimed: ['working', 'done', 'failed'],
  working: ['input_required', 'done', 'failed'],
  input_required: ['working', 'done', 'failed'],
  done: [],
  failed: [],
};

export function decideUpdate(
  book: BookView,
  command: UpdateClaim,
): ClaimDecision<ClaimUpdated, ClaimView> {
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
  const changed = {
    version: book.counter + 1,
    status,
    ...(note !== null && { note }),
    ...(dataRef !== null && { dataRef }),
  };
  return {
    events: [{ type: 'claim.updated', at, by: by.id, id, ...changed }],
    answer: { ...viewClaim(claim), ...changed },
  };
}

export function decideCheckpoint(
  book: BookView,
  command: CheckpointClaim,
): ClaimDecision<ClaimCheckpointed, ClaimView> {
  const { by, at, id, checkpoint } = command;
  const claim = holdingOf(book, command);
  if ('refused' in claim) return claim;
  const bad =
    checkVersion(claim, command.expectedVersion) ??
    checkText('checkpoint', checkpoint, CHECKPOINT_CHARS_MAX);
  if (bad !== null) return bad;
  const changed = { version: book.counter + 1, checkpoint };
  return {
    events: [{ type: 'claim.checkpointed', at, by: by.id, id, ...changed }],
    answer: { ...viewClaim(claim), ...changed },
  };
}

function parseMove(claim: Claim, status: string): ClaimStatus | ClaimRefusal {
  if (status === claim.status) return claim.status;
  const next = NEXT_STATUSES[claim.status];
  const found = next.find((one) => one === status);
  if (found !== undefined) return found;
  const way =
    next.length === 0
      ? `${claim.status} is an end; release the claim`
      : `from ${claim.status} it goes to ${next.join(', ')}`;
  return refuseClaim('claim.status', `${claim.id} cannot become ${status.slice(0, 40)}: ${way}`, {
    id: claim.id,
    status: claim.status,
    allowed: next,
  });
}
