/**
 * What may be asked of the law of claims, and what it puts on record. Every command carries who
 * asks and when; an act on a claim may carry the epoch it believes in, and any command an
 * idempotency key bound to its content.
 */

import type { Asked, Idempotency } from '../../law/decider.ts';
import type { ClaimStatus } from './claim-state.ts';
import type { Scope } from './scope.ts';

export interface ClaimAsked extends Asked {
  readonly idempotency: Idempotency | null;
}

interface OnClaim extends ClaimAsked {
  readonly id: string;
  /** The epoch the caller believes is current; null to go without fencing. */
  readonly epoch: number | null;
}

export interface TakeClaim extends OnClaim {
  readonly type: 'claim.take';
  /** Null keeps what a renewed claim covers, and makes a new one cover no path. */
  readonly scope: Scope | null;
  readonly ttlMs: number | null;
  readonly note: string | null;
  readonly git: string | null;
}

export interface RenewClaim extends OnClaim {
  readonly type: 'claim.renew';
  readonly ttlMs: number | null;
}

/** Null leaves a field as it is. */
export interface UpdateClaim extends OnClaim {
  readonly type: 'claim.update';
  readonly status: string | null;
  readonly note: string | null;
  readonly dataRef: string | null;
  readonly expectedVersion: number | null;
}

export interface CheckpointClaim extends OnClaim {
  readonly type: 'claim.checkpoint';
  readonly checkpoint: string;
  readonly expectedVersion: number | null;
}

export interface HandOffClaim extends OnClaim {
  readonly type: 'claim.hand-off';
  readonly to: string;
  /** What the doors know of the recipient; absent where nobody looked. */
  readonly isRecipientThere?: boolean;
  /** Null keeps the time that is left. */
  readonly ttlMs: number | null;
  readonly note: string | null;
}

export interface ReleaseClaim extends OnClaim {
  readonly type: 'claim.release';
  readonly evidence: string | null;
  /** An admin may release what somebody else holds, and must say so. */
  readonly isForced: boolean;
}

/** For a claim by its id, for a scope, or for both. */
export interface WaitForClaim extends ClaimAsked {
  readonly type: 'claim.wait';
  readonly id: string | null;
  readonly scope: Scope | null;
  readonly ttlMs: number | null;
}

export interface StopWaiting extends ClaimAsked {
  readonly type: 'claim.unwait';
  /** Null for all of the caller's waits. */
  readonly wait: number | null;
}

/** Of checkpoints that claims left behind: one by its id, or all that an agent left. */
export interface ForgetCheckpoints extends ClaimAsked {
  readonly type: 'claim.forget';
  readonly id: string | null;
  /** Null for the caller; only where no id is given. */
  readonly from: string | null;
}

export type ClaimCommand =
  | TakeClaim
  | RenewClaim
  | UpdateClaim
  | CheckpointClaim
  | HandOffClaim
  | ReleaseClaim
  | WaitForClaim
  | StopWaiting
  | ForgetCheckpoints;

interface Recorded {
  readonly at: number;
}

/** What an agent did to a claim. */
interface Done extends Recorded {
  readonly by: string;
  readonly id: string;
}

export interface ClaimTaken extends Done {
  readonly type: 'claim.taken';
  readonly epoch: number;
  readonly scope: Scope | null;
  readonly ttlMs: number;
  readonly note: string | null;
  readonly git: string | null;
  /** Whose checkpoint comes with it. */
  readonly inheritedFrom: string | null;
}

export interface ClaimRenewed extends Done {
  readonly type: 'claim.renewed';
  readonly epoch: number;
  readonly ttlMs: number;
  /** What is not here stays as it was. */
  readonly scope?: Scope;
  readonly note?: string;
  readonly git?: string;
}

export interface ClaimUpdated extends Done {
  readonly type: 'claim.updated';
  readonly version: number;
  readonly status: ClaimStatus;
  readonly note?: string;
  readonly dataRef?: string;
}

export interface ClaimCheckpointed extends Done {
  readonly type: 'claim.checkpointed';
  readonly version: number;
  readonly checkpoint: string;
}

/** To whom the holder would give it; null when it takes the offer back. */
export interface ClaimOffered extends Done {
  readonly type: 'claim.offered';
  readonly to: string | null;
  readonly note?: string;
  readonly ttlMs?: number;
}

/** Who it was offered to has taken it. */
export interface ClaimHandedOff extends Done {
  readonly type: 'claim.handed-off';
  readonly to: string;
  readonly epoch: number;
  readonly lapsesAt: number;
  readonly ttlMs: number;
  /** What is not here stays as it was. */
  readonly note?: string;
  readonly scope?: Scope;
  readonly git?: string;
}

export interface ClaimReleased extends Done {
  readonly type: 'claim.released';
  readonly owner: string;
  readonly evidence: string | null;
}

export interface ClaimExpired extends Recorded {
  readonly type: 'claim.expired';
  readonly id: string;
  readonly owner: string;
  readonly epoch: number;
}

/** Checkpoints that were left behind are gone: of that id, of that agent, from before that time. */
export interface ClaimForgotten extends Recorded {
  readonly type: 'claim.forgotten';
  readonly by: string;
  readonly id: string | null;
  readonly from: string | null;
  readonly before: number | null;
}

export interface WaitStarted extends Recorded {
  readonly type: 'wait.started';
  readonly by: string;
  readonly number: number;
  readonly id: string | null;
  readonly scope: Scope | null;
  readonly until: number;
}

/** It is this waiter's turn: until then nobody else may take what it waited for. */
export interface WaitReserved extends Recorded {
  readonly type: 'wait.reserved';
  readonly agent: string;
  readonly number: number;
  readonly id: string | null;
  readonly until: number;
}

export interface WaitEnded extends Recorded {
  readonly type: 'wait.ended';
  readonly agent: string;
  readonly number: number;
  /** `unused`: its turn came and passed. */
  readonly reason: 'taken' | 'left' | 'lapsed' | 'unused';
}

/**
 * The answer to a command that carried a key, for whoever sends it again. Claims were the first to have
 * keys, and their word is in the log; today any command but a send may carry one.
 */
export interface ClaimKeyed extends Recorded {
  readonly type: 'claim.keyed';
  readonly by: string;
  readonly command: string;
  readonly key: string;
  readonly digest: string;
  readonly answer: unknown;
}

/** What changes a claim that is held. */
export type ClaimChange =
  | ClaimRenewed
  | ClaimUpdated
  | ClaimCheckpointed
  | ClaimOffered
  | ClaimHandedOff;

export type WaitEvent = WaitStarted | WaitReserved | WaitEnded;

export type ClaimEvent =
  | ClaimTaken
  | ClaimChange
  | ClaimReleased
  | ClaimExpired
  | ClaimForgotten
  | ClaimKeyed
  | WaitEvent;
