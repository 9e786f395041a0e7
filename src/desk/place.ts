/**
 * Where a claim's paths lie on this machine. A worktree that exists here is named by
 * its real path, and paths in it are followed through symbolic links, so that two
 * names of one file collide [WK3]; what does not exist here is taken as it is written.
 */
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Symbolic links are followed for this many paths; a scope of more is taken as written. */
const FOLLOWED_MAX = 512;

export async function realWorktree(worktree: string): Promise<string> {
  if (!isAbsolute(worktree)) return worktree;
  try {
    return await realpath(worktree);
  } catch {
    return worktree;
  }
}

/** The paths as they really lie in the worktree; a glob keeps its pattern behind the real prefix. */
export async function realPaths(worktree: string, paths: readonly string[]): Promise<string[]> {
  if (!isAbsolute(worktree) || paths.length > FOLLOWED_MAX) return [...paths];
  return Promise.all(paths.map((path) => realPath(worktree, path)));
}

async function realPath(worktree: string, path: string): Promise<string> {
  // Anything odd is left for the law to refuse by name.
  if (path === '' || isAbsolute(path) || path.split('/').includes('..')) return path;
  const segments = path.split('/');
  const glob = segments.findIndex((segment) => /[*?[{]/.test(segment));
  const fixed = glob < 0 ? segments : segments.slice(0, glob);
  const rest = glob < 0 ? [] : segments.slice(glob);
  let place = join(worktree, ...fixed);
  const missing: string[] = [];
  // A file that is yet to be made lies in a folder that may be a link.
  while (place.length > worktree.length) {
    try {
      const inside = relative(worktree, await realpath(place));
      const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
      if (isOutside) return path;
      return [inside.split(sep).join('/'), ...missing, ...rest].filter(Boolean).join('/') || '.';
    } catch {
      missing.unshift(place.slice(dirname(place).length + 1));
      place = dirname(place);
    }
  }
  return path;
}
