/**
 * Which claims end by themselves when git has done something: those of the caller, taken to end so,
 * whose files it changed. A commit counts in the worktree of the claim; a merge counts on the base
 * of the claim and not on its own branch, where it only brings news from others [GI22].
 */
import { createHoldings, type HeldClaim } from './holdings.ts';
import type { Repository } from './repository.ts';

export type ReleaseTrigger = 'commit' | 'merge';

/** A claim in the words of the wire. */
export interface GitClaim extends HeldClaim {
  readonly epoch: number;
  readonly worktree: string;
  readonly branch: string | null;
  readonly git: {
    readonly repository: string | null;
    readonly base: string;
    readonly auto_release_on: 'manual' | ReleaseTrigger;
  } | null;
}

export function claimsToRelease<Claim extends GitClaim>(
  claims: readonly Claim[],
  what: {
    readonly trigger: ReleaseTrigger;
    readonly repository: Repository;
    readonly changed: readonly string[];
    readonly me: string;
  },
): Claim[] {
  return claims.filter(
    (claim) =>
      claim.owner === what.me &&
      claim.git?.auto_release_on === what.trigger &&
      isMeant(claim, what.trigger, what.repository) &&
      isTouched(claim, what.changed),
  );
}

function isMeant(claim: GitClaim, trigger: ReleaseTrigger, repository: Repository): boolean {
  if (trigger === 'commit') return claim.worktree === repository.toplevel;
  return claim.git?.repository === repository.commonDir && claim.git.base === repository.branch;
}

function isTouched(claim: GitClaim, changed: readonly string[]): boolean {
  const holdings = createHoldings([claim]);
  return changed.some((path) => holdings({ path, reach: 'file' }).length > 0);
}
