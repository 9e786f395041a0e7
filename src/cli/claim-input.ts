/**
 * The scope of a claim as it is typed: files, folders and globs from where one stands, told to the hub
 * from the root of the worktree. In a git repository the worktree and the branch are its own.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { placeNames } from '../place/claim-scope.ts';
import { readGround } from '../place/place.ts';
import { fail } from './failure.ts';
import { orThrow } from './git-problem.ts';

export interface ScopeFlags {
  readonly paths?: readonly string[] | false;
  readonly worktree?: string;
}

export interface ScopeInput {
  readonly worktree?: string;
  readonly branch?: string | undefined;
  readonly paths?: readonly string[];
}

/** Paths may be named as arguments or behind `--paths`; it is the same. */
export function namedPaths(args: readonly string[], { paths }: ScopeFlags): readonly string[] {
  if (paths === false && args.length > 0) {
    throw fail('cli.usage', 'either paths or --no-paths, not both');
  }
  return [...args, ...(Array.isArray(paths) ? paths : [])];
}

/** Nothing at all outside git when no paths are named: then the claim is of the work and of no files. */
export async function readScope(names: readonly string[], flags: ScopeFlags): Promise<ScopeInput> {
  if (flags.paths === false) return {};
  const cwd = flags.worktree === undefined ? process.cwd() : await folderOf(flags.worktree);
  const ground = orThrow(await readGround(cwd));
  const isChosen = flags.worktree !== undefined || ground.repository !== null;
  if (names.length === 0 && !isChosen) return {};
  const placed = orThrow(await placeNames(ground, names));
  return { ...placed, branch: ground.repository?.branch ?? undefined };
}

async function folderOf(name: string): Promise<string> {
  try {
    return await realpath(resolve(name));
  } catch (cause) {
    throw fail('cli.usage', `there is no folder ${name}`, { cause });
  }
}
