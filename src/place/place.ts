/**
 * Where a path is, as everybody else would say it: which repository, which worktree, and the path
 * from the worktree's root. Two agents that mean one file get one place, whatever folder they stand
 * in and whatever they call it [GI5]; what lies outside the worktree, in a repository nested in
 * it, or in git's own folder is refused and never guessed at [GI7].
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { isProblem, type Problem, problem, quoted } from './problem.ts';
import { type Repository, readRepository } from './repository.ts';
import { PATH_CHARS_MAX, type ResolveOptions, resolvePath } from './resolve-path.ts';
import type { GitOptions } from './run-git.ts';

/** The ground paths are placed on: a worktree, or outside git the folder itself. */
export interface Ground {
  readonly cwd: string;
  readonly repository: Repository | null;
  /** The label of a claim's scope. */
  readonly worktree: string;
}

export interface Place {
  /** The key of the repository; null outside git. */
  readonly repository: string | null;
  readonly worktree: string;
  /** From the root of the worktree, with `/`; `.` is the root itself. */
  readonly path: string;
}

export async function readGround(cwd: string, options: GitOptions = {}): Promise<Ground | Problem> {
  const repository = await readRepository(cwd, options);
  if (!isProblem(repository)) return { cwd, repository, worktree: repository.toplevel };
  if (repository.problem !== 'git.not-a-repository') return repository;
  return { cwd, repository: null, worktree: await realpath(cwd) };
}

export async function placeOf(path: string, cwd: string): Promise<Place | Problem> {
  const ground = await readGround(cwd);
  return isProblem(ground) ? ground : placeOn(ground, path);
}

/** The place of a path in the worktree of the ground, and in no other. */
export async function placeOn(
  ground: Ground,
  path: string,
  options: ResolveOptions = {},
): Promise<Place | Problem> {
  const full = await resolvePath(path, ground.cwd, options);
  if (isProblem(full)) return full;
  const inside = relativeTo(ground.worktree, full);
  if (inside === null) return escapes(path, ground);
  if (isGitInternal(inside)) return internal(path);
  const nested = await nestedRepository(ground, full);
  if (isProblem(nested)) return nested;
  if (nested !== null) {
    return problem(
      'path.other-repository',
      `${quoted(path)} is in the repository at ${quoted(nested.toplevel)}, nested in this one`,
      'name it from there',
    );
  }
  return {
    repository: ground.repository?.commonDir ?? null,
    worktree: ground.worktree,
    path: inside,
  };
}

/** The place of a path in whichever worktree it is in; null when it is in none that we know. */
export async function placeAnywhere(
  ground: Ground,
  path: string,
  options: ResolveOptions = {},
): Promise<Place | null | Problem> {
  const full = await resolvePath(path, ground.cwd, options);
  if (isProblem(full)) return full;
  const root = (await hasGit(full)) ? full : await findRoot(dirname(full), null);
  if (root === null || root === ground.worktree) {
    const inside = relativeTo(ground.worktree, full);
    if (inside === null) return null;
    if (isGitInternal(inside)) return internal(path);
    const repository = ground.repository?.commonDir ?? null;
    return { repository, worktree: ground.worktree, path: inside };
  }
  const other = await readGround(root);
  // What only looks like a repository has no worktree; its files are those of the folder around it.
  if (isProblem(other)) return other.problem.startsWith('git.') ? null : other;
  const inside = relativeTo(other.worktree, full);
  if (inside === null) return null;
  if (isGitInternal(inside)) return internal(path);
  return {
    repository: other.repository?.commonDir ?? null,
    worktree: other.worktree,
    path: inside,
  };
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

async function nestedRepository(
  ground: Ground,
  full: string,
): Promise<Repository | null | Problem> {
  if (full === ground.worktree) return null;
  const root = await findRoot(dirname(full), ground.worktree);
  if (root === null || root === ground.worktree) return null;
  const found = await readRepository(root);
  if (!isProblem(found)) return found.toplevel === ground.worktree ? null : found;
  // An empty folder named .git makes no repository, and git says so.
  return found.problem === 'git.not-a-repository' ? null : found;
}

/** The nearest folder upwards that has something named .git, no further than `last`. */
async function findRoot(from: string, last: string | null): Promise<string | null> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (await hasGit(folder)) return folder;
    if (folder === last || folder === dirname(folder)) return null;
  }
}

async function hasGit(folder: string): Promise<boolean> {
  return lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  );
}

function escapes(path: string, ground: Ground): Problem {
  return problem(
    'path.escapes',
    `${quoted(path)} is outside the worktree ${quoted(ground.worktree)}`,
    'name a path inside it, or go to the worktree it is in',
  );
}

function internal(path: string): Problem {
  return problem(
    'path.git-internal',
    `${quoted(path)} is git's own, not a file of the project`,
    'name a file of the project',
  );
}
