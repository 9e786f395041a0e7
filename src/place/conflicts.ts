/**
 * Who will collide with whom, on which base, before the merge.
 *
 * Two claims collide when different agents hold them, in one repository (or clones of one origin), on
 * different branches or in different worktrees, towards one base, and their paths overlap [GI20]. With
 * `changedBy` only what both branches really changed counts; where that cannot be known the pair
 * is kept, and says why [GI21].
 */
import { isProblem, type Problem } from './problem.ts';

export interface BranchClaim {
  readonly id: string;
  readonly owner: string;
  /** The key of the repository: its git common directory. */
  readonly repository: string;
  /** What its clones share, where it is known. */
  readonly origin?: string | null;
  readonly worktree: string;
  readonly branch: string | null;
  readonly base: string | null;
  /** Empty: the whole worktree. */
  readonly paths: readonly string[];
}

export interface Conflict {
  readonly left: BranchClaim;
  readonly right: BranchClaim;
  /** The branch on which they will meet; null when it is not known. */
  readonly base: string | null;
  /** Pairs of claimed paths that overlap. */
  readonly overlaps: readonly { readonly left: string; readonly right: string }[];
  /** Files both have changed; null when nobody looked or nobody can say. */
  readonly changed: readonly string[] | null;
  /** Why it is kept although it is not certain. */
  readonly reason: string | null;
}

export interface ConflictReport {
  readonly conflicts: readonly Conflict[];
  /** Pairs that were dropped because the branches changed nothing in common. */
  readonly cleared: number;
}

export interface ConflictOptions {
  /** Whether two claimed paths, files, folders or globs, have a file in common. */
  readonly overlaps: (left: string, right: string) => boolean;
  /** What the branch of a claim changed since it parted from another; null is its base. */
  readonly changedBy?: ChangedBy;
}

type ChangedBy = (claim: BranchClaim, since: string | null) => Promise<readonly string[] | Problem>;

const WHOLE = '.';

export async function findConflicts(
  claims: readonly BranchClaim[],
  options: ConflictOptions,
): Promise<ConflictReport> {
  const pairs = meetingPairs(claims, options.overlaps);
  const { changedBy } = options;
  if (changedBy === undefined) return { conflicts: pairs, cleared: 0 };
  const asked = new Map<BranchClaim, Map<string | null, ReturnType<ChangedBy>>>();
  const changesOf: ChangedBy = (claim, since) => {
    const answers = asked.get(claim) ?? new Map<string | null, ReturnType<ChangedBy>>();
    asked.set(claim, answers);
    const known = answers.get(since) ?? changedBy(claim, since);
    answers.set(since, known);
    return known;
  };
  const conflicts: Conflict[] = [];
  for (const pair of pairs) {
    const checked = await check(pair, changesOf, options.overlaps);
    if (checked !== null) conflicts.push(checked);
  }
  return { conflicts, cleared: pairs.length - conflicts.length };
}

/** 0 none, 2 some; trouble is the caller's 1. */
export function conflictsExit({ conflicts }: ConflictReport): 0 | 2 {
  return conflicts.length === 0 ? 0 : 2;
}

function meetingPairs(
  claims: readonly BranchClaim[],
  overlaps: ConflictOptions['overlaps'],
): Conflict[] {
  const pairs: Conflict[] = [];
  for (const [at, left] of claims.entries()) {
    for (const right of claims.slice(at + 1)) {
      if (left.owner === right.owner || !isOneProject(left, right)) continue;
      // In one worktree on one branch the hub itself keeps them apart.
      if (left.repository === right.repository && isOnePlace(left, right)) continue;
      const meeting = meetingBase(left, right);
      if (meeting === null) continue;
      const common = overlapping(left.paths, right.paths, overlaps);
      if (common.length > 0)
        pairs.push({ left, right, ...meeting, overlaps: common, changed: null });
    }
  }
  return pairs;
}

function isOneProject(left: BranchClaim, right: BranchClaim): boolean {
  if (left.repository === right.repository) return true;
  return left.origin != null && left.origin === right.origin;
}

function isOnePlace(left: BranchClaim, right: BranchClaim): boolean {
  return left.worktree === right.worktree && left.branch === right.branch;
}

/** Null: they go to different branches and will not meet. */
function meetingBase(
  left: BranchClaim,
  right: BranchClaim,
): { readonly base: string | null; readonly reason: string | null } | null {
  const unknown = [left, right].find(({ base }) => base === null);
  if (unknown !== undefined) {
    return { base: null, reason: `the base of claim ${unknown.id} is not known` };
  }
  if (left.base === right.base) return { base: left.base, reason: null };
  // One branch is built upon the other.
  if (left.base === right.branch) return { base: left.base, reason: null };
  return right.base === left.branch ? { base: right.base, reason: null } : null;
}

function overlapping(
  left: readonly string[],
  right: readonly string[],
  overlaps: ConflictOptions['overlaps'],
): { left: string; right: string }[] {
  const isMet = (a: string, b: string) => a === WHOLE || b === WHOLE || overlaps(a, b);
  return wholeOr(left).flatMap((a) =>
    wholeOr(right)
      .filter((b) => isMet(a, b))
      .map((b) => ({ left: a, right: b })),
  );
}

function wholeOr(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [WHOLE] : paths;
}

/**
 * First by what each changed since its base. What one side has on the base already is not seen so: then
 * by what each changed since the two branches parted.
 */
async function check(
  pair: Conflict,
  changesOf: ChangedBy,
  overlaps: ConflictOptions['overlaps'],
): Promise<Conflict | null> {
  const sinceBase = await meet(pair, [null, null], changesOf, overlaps);
  if (sinceBase !== null) return sinceBase;
  const { left, right } = pair;
  if (left.repository === right.repository) {
    return meet(pair, [right.branch, left.branch], changesOf, overlaps);
  }
  const onBase = [left, right].find(({ branch, base }) => branch === base);
  if (onBase === undefined) return null;
  return { ...pair, reason: `${onBase.owner} works on the base itself, in another clone` };
}

async function meet(
  pair: Conflict,
  since: readonly [left: string | null, right: string | null],
  changesOf: ChangedBy,
  overlaps: ConflictOptions['overlaps'],
): Promise<Conflict | null> {
  const [left, right] = await Promise.all([
    changesOf(pair.left, since[0]),
    changesOf(pair.right, since[1]),
  ]);
  const trouble = [left, right].find(isProblem);
  if (left === undefined || right === undefined || trouble !== undefined) {
    return { ...pair, reason: pair.reason ?? trouble?.message ?? 'nobody could say' };
  }
  const theirs = new Set(right as readonly string[]);
  const changed = (left as readonly string[]).filter(
    (path) =>
      theirs.has(path) &&
      pair.overlaps.some(
        (one) => isCovered(path, one.left, overlaps) && isCovered(path, one.right, overlaps),
      ),
  );
  return changed.length === 0 ? null : { ...pair, changed };
}

function isCovered(path: string, claimed: string, overlaps: ConflictOptions['overlaps']): boolean {
  return claimed === WHOLE || overlaps(path, claimed);
}
