/**
 * Who holds a path, told from the live claims of a worktree by the law's own patterns. What is asked
 * about is a name on disk and never a pattern, so brackets and stars in it mean themselves; a claim
 * on what lies below a folder is touched by removing the folder, not by making it [GI18].
 */
import { patternsOf } from '../core/work/claim/scope.ts';
import { covers, overlap } from '../core/work/claim/scope-overlap.ts';
import { foldPath, namesOf, type PathPattern } from '../core/work/claim/scope-pattern.ts';
import type { GuardWrite, Holding } from './guard.ts';

/** What of a claim counts here, in the words of the wire. */
export interface HeldClaim {
  readonly task_id: string;
  readonly owner: string;
  readonly paths: readonly string[];
  readonly case_sensitive?: true | undefined;
  /** In seconds since 1970. */
  readonly lease_expires_at: number;
  /** Likewise; since when its owner is gone. */
  readonly gone_since?: number | undefined;
}

export function createHoldings(
  claims: readonly HeldClaim[],
): (write: GuardWrite) => readonly Holding[] {
  const known = claims.map((claim) => ({
    claim,
    patterns: patternsOf(claim.paths, claim.case_sensitive),
  }));
  return ({ path, reach }) =>
    known.flatMap(({ claim, patterns }) => {
      const touched = patterns.filter((pattern) =>
        reach === 'tree' ? overlap(pattern, exactly(path)) !== null : covers(pattern, path),
      );
      if (touched.length === 0) return [];
      const { task_id: claimId, owner, lease_expires_at: seconds } = claim;
      const paths = claim.paths.length === 0 ? [] : touched.map(({ text }) => text);
      const goneSince = claim.gone_since === undefined ? null : claim.gone_since * 1000;
      return [{ claimId, owner, paths, lapsesAt: seconds * 1000, goneSince }];
    });
}

/** Whether two claimed paths have a file in common. It remembers what it compiled; let it go after use. */
export function createPathOverlap(): (left: string, right: string) => boolean {
  const known = new Map<string, PathPattern>();
  const compiled = (path: string): PathPattern => {
    const pattern = known.get(path) ?? (patternsOf([path])[0] as PathPattern);
    known.set(path, pattern);
    return pattern;
  };
  return (left, right) => overlap(compiled(left), compiled(right)) !== null;
}

/** The path and all below it. */
function exactly(path: string): PathPattern {
  const names = path === '.' ? [] : foldPath(path);
  const segments = names.map((key) => ({ kind: 'name' as const, key }));
  return { text: path, isGlob: false, alternatives: [segments], exact: namesOf(path) };
}
