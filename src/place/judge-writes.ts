/**
 * The whole question of the guard, for whoever asks it: paths or a shell command, from where somebody
 * stands, against the claims of the worktrees they lie in. `synod guard` and the hooks of coding
 * agents ask it here, so that they cannot differ.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { decideGuard, type GuardWrite, type Verdict } from './guard.ts';
import { createHoldings, type HeldClaim } from './holdings.ts';
import { type Ground, placeAnywhere } from './place.ts';
import { isProblem, type Problem } from './problem.ts';
import { shellWrites } from './shell-writes.ts';

export interface WritesAsked {
  readonly ground: Ground;
  /** As they were written, relative ones from where the ground stands. */
  readonly paths: readonly string[];
  readonly command: string | null;
  readonly me: string;
  readonly mustHold?: boolean;
  readonly nowMs: number;
}

export interface Judgement extends Verdict {
  /** What is written without doubt, by worktree. */
  readonly writes: ReadonlyMap<string, readonly GuardWrite[]>;
}

export async function judgeWrites(
  asked: WritesAsked,
  claimsIn: (worktree: string) => Promise<readonly HeldClaim[]>,
): Promise<Judgement | Problem> {
  const { ground, me, nowMs, mustHold = false } = asked;
  const isFolder = (path: string): boolean =>
    statSync(resolve(ground.cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  const shell = asked.command === null ? null : shellWrites(asked.command, isFolder);
  const named = asked.paths.map((path) => {
    const reach = isFolder(path) ? ('tree' as const) : ('file' as const);
    return { path, reach, isFollowed: true };
  });
  const writes = await placeAll(ground, [...named, ...(shell?.writes ?? [])]);
  if (isProblem(writes)) return writes;
  const question = {
    isCertain: shell?.isCertain ?? true,
    why: shell?.why ?? null,
    me,
    mustHold,
    nowMs,
  };
  let verdict = decideGuard({ ...question, writes: [] }, () => []);
  for (const [worktree, found] of writes) {
    const holdings = createHoldings(await claimsIn(worktree));
    const one = decideGuard({ ...question, writes: found }, holdings);
    // The worst of all worktrees; what is denied anywhere is denied.
    if (verdict.verdict !== 'deny') verdict = one;
  }
  return { ...verdict, writes };
}

/** By worktree, because claims are. */
async function placeAll(
  ground: Ground,
  writes: readonly (GuardWrite & { readonly isFollowed: boolean })[],
): Promise<ReadonlyMap<string, readonly GuardWrite[]> | Problem> {
  const placed = new Map<string, GuardWrite[]>();
  let unplaced: Problem | null = null;
  for (const { path, reach, isFollowed } of writes) {
    const place = await placeAnywhere(ground, path, { isFollowed });
    if (isProblem(place) && place.problem === 'path.git-internal') continue;
    // One path that cannot be told must not let the others through.
    if (isProblem(place)) {
      unplaced ??= place;
      continue;
    }
    const known = placed.get(place.worktree) ?? [];
    placed.set(place.worktree, [...known, { path: place.path, reach }]);
  }
  return placed.size === 0 && unplaced ? unplaced : placed;
}
