/**
 * Where a path is, as everybody else would say it: which repository, which worktree, and the path
 * from the worktree's root. Two agents that mean one file get one place, whatever folder they stand
 * in and whatever they call it [GI5]; what lies outside the worktree, in a repository nested in
 * it, or in git's own folder is refused and never guessed at [GI7].
 */
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { isProblem, type Problem, problem, quoted } from './problem.ts';
import { type Repository, readRepository } from './repository.ts';
import { PATH_CHARS_MAX, type ResolveOptions, resolvePath } from './resolve-path.ts';

/** The ground paths are placed on: a worktree, or outside git a folder of the disk. */
export interface Ground {
  readonly cwd: string;
  readonly repository: Repository | null;
  /**
   * The label of a claim's scope. All that is in no repository has one label, the root of the disk:
   * with a label for each folder a file would have one place for each folder above it.
   */
  readonly worktree: string;
  /** What no path may lead out of: the worktree, or outside git the folder one stands in. */
  readonly within: string;
}

export interface Place {
  readonly worktree: string;
  /** From the root of the worktree, with `/`; `.` is the root itself. */
  readonly path: string;
}

export async function readGround(cwd: string): Promise<Ground | Problem> {
  const repository = await readRepository(cwd);
  if (!isProblem(repository)) {
    return { cwd, repository, worktree: repository.toplevel, within: repository.toplevel };
  }
  return repository.problem === 'git.not-a-repository'
    ? plainGround(await realpath(cwd))
    : repository;
}

/** Where no repository is, or none that can be read. */
export function plainGround(folder: string): Ground {
  return { cwd: folder, repository: null, worktree: parse(folder).root, within: folder };
}

/**
 * The same, found by looking and without a branch, because a claim or a hook cannot wait for git. Null
 * when the folder is not there.
 */
export async function findGround(folder: string): Promise<Ground | null> {
  const cwd = await realpath(folder).catch(() => null);
  if (cwd === null) return null;
  const top = await findTop(cwd, null);
  return top === null ? plainGround(cwd) : { cwd, repository: null, worktree: top, within: top };
}

/** The place of a path in the worktree of the ground, and in no other. */
export async function placeOn(
  ground: Ground,
  path: string,
  options: ResolveOptions = {},
): Promise<Place | Problem> {
  const full = await resolvePath(path, ground.cwd, options);
  if (isProblem(full)) return full;
  const { worktree, within } = ground;
  const inside = relativeTo(worktree, full);
  if (inside === null || relativeTo(within, full) === null) return escapes(path, ground);
  if (isGitInternal(inside)) return internal(path);
  const top = full === within ? null : await findTop(dirname(full), within);
  if (top !== null && top !== worktree) return nested(path, top);
  return { worktree, path: inside };
}

/** A folder that is another repository: its files are placed there and not here. */
export async function whyNested(worktree: string, path: string): Promise<Problem | null> {
  const full = join(worktree, path);
  return path !== '.' && (await isTop(full)) ? nested(path, full) : null;
}

/** The place of a path in whichever worktree it is in, or outside git. */
export async function placeAnywhere(
  ground: Ground,
  path: string,
  options: ResolveOptions = {},
): Promise<Place | Problem> {
  const full = await resolvePath(path, ground.cwd, options);
  if (isProblem(full)) return full;
  const top = (await isTop(full)) ? full : await findTop(dirname(full), null);
  const worktree = top ?? parse(full).root;
  const inside = relativeTo(worktree, full) ?? '.';
  return isGitInternal(inside) ? internal(path) : { worktree, path: inside };
}

/**
 * A glob keeps its pattern: what stands before the first segment with a special character is
 * placed like any path, and the rest is appended as it is.
 */
export async function placeOfPattern(ground: Ground, pattern: string): Promise<Place | Problem> {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[\]{}]/.test(part));
  if (first === -1) {
    const place = await placeOn(ground, pattern);
    // A slash at the end says that it is a folder, whatever its name looks like.
    if (isProblem(place) || !pattern.endsWith('/') || place.path === '.') return place;
    return { ...place, path: `${place.path}/` };
  }
  const rest = parts.slice(first);
  if (pattern.length > PATH_CHARS_MAX || rest.includes('..')) {
    return problem(
      'path.invalid',
      `${quoted(pattern)} is too long, or has ".." after a wildcard`,
      'write the pattern without ".."',
    );
  }
  const start = parts.slice(0, first).join('/');
  const place = await placeOn(ground, pattern.startsWith('/') && start === '' ? '/' : start || '.');
  if (isProblem(place)) return place;
  const other = await whyNested(place.worktree, place.path);
  if (other !== null) return other;
  return { ...place, path: place.path === '.' ? rest.join('/') : [place.path, ...rest].join('/') };
}

/** With `/` whatever the platform; null when it is not below. */
export function relativeTo(root: string, full: string): string | null {
  const path = relative(root, full);
  if (path === '') return '.';
  if (path === '..' || path.startsWith(`..${sep}`) || /^([a-zA-Z]:|[\\/])/.test(path)) return null;
  return sep === '\\' ? path.replaceAll('\\', '/') : path;
}

function isGitInternal(path: string): boolean {
  return /^\.git(\/|$)/i.test(path);
}

/** The nearest folder upwards that is the top of a worktree, no further than `last`. */
async function findTop(from: string, last: string | null): Promise<string | null> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (await isTop(folder)) return folder;
    if (folder === last || folder === dirname(folder)) return null;
  }
}

/** As git itself tells: an empty folder named `.git`, or any other file, makes no repository [GI7]. */
async function isTop(folder: string): Promise<boolean> {
  const mark = join(folder, '.git');
  const found = await stat(mark).catch(() => null);
  if (found === null) return false;
  // A linked worktree and a submodule have a file there that says where their folder is.
  const said = found.isFile() ? await readFile(mark, 'utf8').catch(() => '') : '';
  const gitDir = found.isFile() ? /^gitdir: (.+?)\r?\n?$/.exec(said)?.[1] : mark;
  if (gitDir === undefined) return false;
  const isThere = (name: string): Promise<boolean> =>
    stat(resolve(folder, gitDir, name)).then(
      () => true,
      () => false,
    );
  return (await isThere('HEAD')) && ((await isThere('objects')) || (await isThere('commondir')));
}

function escapes(path: string, ground: Ground): Problem {
  return problem(
    'path.escapes',
    `${quoted(path)} is outside the worktree ${quoted(ground.within)}`,
    'name a path inside it, or go to the worktree it is in',
  );
}

function nested(path: string, top: string): Problem {
  return problem(
    'path.other-repository',
    `${quoted(path)} is in the repository at ${quoted(top)}, nested in this one`,
    'name it from there',
  );
}

function internal(path: string): Problem {
  return problem(
    'path.git-internal',
    `${quoted(path)} is git's own, not a file of the project`,
    'name a file of the project',
  );
}
