/**
 * Where the files of a claim really lie: the one answer for every door that takes claims (the hub's
 * own, the bridge, the command line), so that one claim made in several ways is one claim [WK3].
 * A worktree is named by the real path of its repository's top, paths from there, through links; a
 * folder is told from a file by looking. What cannot be placed is refused, the same everywhere.
 */
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { type Refusal, type RefusalCode, refuse } from '../core/law/decider.ts';
import { PATHS_PER_SCOPE_MAX } from '../core/work/claim/scope.ts';
import { tellsCase } from './letter-case.ts';
import { findGround, type Ground, placeOfPattern, whyNested } from './place.ts';
import { isProblem, type Problem, type ProblemCode, problem, quoted } from './problem.ts';

export interface PlacedScope {
  readonly worktree: string;
  /** From the root of the worktree; none for all of it. */
  readonly paths: readonly string[];
  /** Every path lies where two spellings are two files. */
  readonly isExact?: true;
}

/** A scope as a caller of the hub says it: a worktree, or a folder in one, and paths from there. */
export async function placeScope(
  worktree: string,
  paths: readonly string[],
  isTold = true,
): Promise<PlacedScope | Refusal> {
  if (!isAbsolute(worktree)) return { worktree, paths };
  // A folder of a worktree without paths is that folder, not the whole worktree.
  const names = paths.length === 0 ? ['.'] : paths;
  const ground = await findGround(worktree);
  const placed = ground === null ? await placeUnmade(worktree, names) : placeNames(ground, names);
  if (placed === null) return { worktree: normalize(`${worktree}/.`), paths };
  const answer = await placed;
  if (isProblem(answer)) return isTold ? refusalOf(answer) : untold(answer);
  if (!isTold && !isAsNamed(worktree, names, answer)) return untold(answer);
  return withCase(answer);
}

/** Whether spellings in another case are other files, of every path that is no glob. */
async function withCase(placed: PlacedScope): Promise<PlacedScope> {
  const { worktree, paths } = placed;
  const plain = paths.filter((path) => !/[*?[\]{}]/.test(path));
  if (plain.length === 0 || paths.length > PATHS_PER_SCOPE_MAX) return placed;
  const told = await Promise.all(plain.map((path) => tellsCase(worktree, path)));
  return told.every(Boolean) ? { ...placed, isExact: true } : placed;
}

/** Whether the files lie where their names say: no link, and no other spelling, on the way. */
function isAsNamed(worktree: string, names: readonly string[], placed: PlacedScope): boolean {
  const plain = (path: string): string => normalize(`${path}/.`);
  const said = new Set(names.map((name) => plain(isAbsolute(name) ? name : join(worktree, name))));
  const places = placed.paths.length === 0 ? ['.'] : placed.paths;
  return places.every((path) => said.has(plain(join(placed.worktree, path))));
}

/** Nothing of where a link leads, or of what else is on the disk. */
function untold(answer: PlacedScope | Problem): Refusal {
  const code = isProblem(answer) ? refusalOf(answer).refused : 'scope.escape';
  const message =
    'the paths are not where their names say (a link, another spelling, or a repository of its own); name files by their real path in one worktree, as "synod claim" does where they lie';
  return refuse(code, message);
}

/**
 * A folder yet to be made, in a repository or in a folder that is here. Null for one of another
 * machine: nothing of it can be looked at here.
 */
async function placeUnmade(
  worktree: string,
  names: readonly string[],
): Promise<PlacedScope | Problem | null> {
  if (worktree.split(sep).includes('..')) {
    return problem('path.invalid', `${quoted(worktree)} is not here`, 'write it without ".."');
  }
  const folder = normalize(`${worktree}/.`);
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    const ground = await findGround(above);
    if (ground === null) continue;
    if (isPlain(ground) && above !== dirname(folder)) return null;
    const rest = relative(above, folder);
    return placeNames(
      ground,
      names.map((name) => (name === '' || isAbsolute(name) ? name : join(rest, name))),
    );
  }
  return null;
}

/** Names of files, folders and globs, from where somebody stands. */
export async function placeNames(
  ground: Ground,
  names: readonly string[],
): Promise<PlacedScope | Problem> {
  const { worktree } = ground;
  // Where no worktree has a top, the folder one stands in is all that is meant.
  const distinct = names.length === 0 && isPlain(ground) ? ['.'] : [...new Set(names)];
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
  const settled = await Promise.all(paths.map((path) => settle(worktree, path)));
  const bad = settled.find(isProblem);
  return bad ?? { worktree, paths: settled as string[] };
}

const ELSEWHERE: ReadonlySet<ProblemCode> = new Set([
  'path.escapes',
  'path.other-repository',
  'path.git-internal',
]);

export function refusalOf({ problem, message, remedy }: Problem): Refusal {
  const code: RefusalCode = ELSEWHERE.has(problem) ? 'scope.escape' : 'scope.invalid';
  return refuse(code, `${message}; ${remedy}`, { problem });
}

/**
 * What is on disk there: a folder ends in a slash, whatever its name looks like. A folder that is a
 * repository of its own, and a file with a second name, have another place as well and are refused.
 */
async function settle(worktree: string, path: string): Promise<string | Problem> {
  const found = await stat(join(worktree, path)).catch(() => null);
  if (found === null) return path;
  if (found.isDirectory()) {
    return (await whyNested(worktree, path)) ?? (path.endsWith('/') ? path : `${path}/`);
  }
  if (found.nlink < 2) return path;
  return problem(
    'path.two-names',
    `${quoted(path)} is one of ${found.nlink} names of one file (hard links), and a claim holds names`,
    'make it a file of its own (copy it, move the copy back), or claim the folders of all its names',
  );
}

/** Outside git the label is the root of the disk, and what is meant a folder on it. */
function isPlain({ worktree, within }: Ground): boolean {
  return worktree !== within;
}
