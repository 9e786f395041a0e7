/**
 * Where the files of a claim really lie: the one answer for every door that takes claims (the hub's
 * own, the bridge, the command line), so that one claim made in several ways is one claim [WK3].
 * A worktree is named by the real path of its repository's top, paths from there, through links; a
 * folder is told from a file by looking. What cannot be placed is refused, the same everywhere.
 */
import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type Refusal, type RefusalCode, refuse } from '../core/law/decider.ts';
import { PATHS_PER_SCOPE_MAX } from '../core/work/claim/scope.ts';
import { findGround, type Ground, placeOfPattern } from './place.ts';
import { isProblem, type Problem } from './problem.ts';

export interface PlacedScope {
  readonly worktree: string;
  /** From the root of the worktree; none for all of it. */
  readonly paths: readonly string[];
}

/** A scope as a caller of the hub says it: a worktree, or a folder in one, and paths from there. */
export async function placeScope(
  worktree: string,
  paths: readonly string[],
): Promise<PlacedScope | Refusal> {
  const ground = isAbsolute(worktree) ? await findGround(worktree) : null;
  // A label, or a folder of another machine: nothing of it can be looked at here.
  if (ground === null) return { worktree: withoutSlash(worktree), paths };
  // A folder of a worktree without paths is that folder, not the whole worktree.
  const placed = await placeNames(ground, paths.length === 0 ? ['.'] : paths);
  return isProblem(placed) ? refusalOf(placed) : placed;
}

/** Names of files, folders and globs, from where somebody stands. */
export async function placeNames(
  ground: Ground,
  names: readonly string[],
): Promise<PlacedScope | Problem> {
  const { worktree } = ground;
  const distinct = [...new Set(names)];
  // So many are refused by the law, and not looked at.
  if (distinct.length > PATHS_PER_SCOPE_MAX) return { worktree, paths: distinct };
  const places = await Promise.all(distinct.map((name) => placeOfPattern(ground, name)));
  const paths: string[] = [];
  for (const place of places) {
    if (isProblem(place)) return place;
    // The root of the worktree is all of it, whatever else is named.
    if (place.path === '.') return { worktree, paths: [] };
    paths.push(place.path);
  }
  return { worktree, paths: await Promise.all(paths.map((path) => asFolder(worktree, path))) };
}

export function refusalOf({ problem, message, remedy }: Problem): Refusal {
  const isElsewhere = problem !== 'path.invalid' && problem !== 'path.loop';
  const code: RefusalCode = isElsewhere ? 'scope.escape' : 'scope.invalid';
  return refuse(code, `${message}; ${remedy}`, { problem });
}

/** A folder ends in a slash, whatever its name looks like. */
async function asFolder(worktree: string, path: string): Promise<string> {
  if (path.endsWith('/')) return path;
  const found = await stat(join(worktree, path)).catch(() => null);
  return found?.isDirectory() ? `${path}/` : path;
}

function withoutSlash(worktree: string): string {
  return isAbsolute(worktree) && worktree.length > 1
    ? worktree.replace(/\/+$/, '') || '/'
    : worktree;
}
