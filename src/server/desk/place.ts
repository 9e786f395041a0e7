/**
 * Where a claim's paths lie on this machine. A worktree that exists here is named by the
 * real path of its repository's top, whatever folder of it was named, and paths in it are
 * followed through symbolic links, so that two names of one file collide [WK3]. A folder is
 * told from a file by looking. What does not exist here is taken as it is written.
 */
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Symbolic links are followed for this many paths; a scope of more is taken as written. */
const FOLLOWED_MAX = 512;

export interface Ground {
  readonly worktree: string;
  readonly paths: string[];
}

/** The worktree and paths of a scope as they really lie. */
export async function groundOf(worktree: string, paths: readonly string[]): Promise<Ground> {
  if (!isAbsolute(worktree)) return { worktree, paths: [...paths] };
  let folder: string;
  try {
    folder = await realpath(worktree);
  } catch {
    return { worktree, paths: [...paths] };
  }
  const top = (await repositoryTop(folder)) ?? folder;
  const below = relative(top, folder).split(sep).join('/');
  const named = below === '' ? [...paths] : paths.map((path) => within(below, path));
  // A folder of a worktree without paths is that folder, not the whole worktree.
  const meant = below !== '' && paths.length === 0 ? [`${below}/`] : named;
  if (meant.length > FOLLOWED_MAX) return { worktree: top, paths: meant };
  return { worktree: top, paths: await Promise.all(meant.map((path) => realPath(top, path))) };
}

/** The nearest folder above that holds `.git`, as a folder or as the file of a linked worktree. */
async function repositoryTop(folder: string): Promise<string | null> {
  for (let place = folder; ; place = dirname(place)) {
    try {
      await stat(join(place, '.git'));
      return place;
    } catch {
      if (dirname(place) === place) return null;
    }
  }
}

/** What is odd stays as it is, for the law to refuse by name. */
function within(below: string, path: string): string {
  return path === '' || isAbsolute(path) ? path : `${below}/${path}`;
}

async function realPath(worktree: string, path: string): Promise<string> {
  if (path === '' || isAbsolute(path) || path.split('/').includes('..')) return path;
  const segments = path.split('/').filter((segment) => segment !== '');
  const glob = segments.findIndex((segment) => /[*?[{]/.test(segment));
  const fixed = glob < 0 ? segments : segments.slice(0, glob);
  const rest = glob < 0 ? [] : segments.slice(glob);
  let place = join(worktree, ...fixed);
  const missing: string[] = [];
  // A file that is yet to be made lies in a folder that may be a link.
  while (place.length > worktree.length) {
    try {
      const real = await realpath(place);
      const inside = relative(worktree, real);
      const isOutside = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
      if (isOutside) return path;
      const isWhole = missing.length === 0 && rest.length === 0;
      const isFolder = isWhole ? (await stat(real)).isDirectory() : path.endsWith('/');
      const names = [inside.split(sep).join('/'), ...missing, ...rest].filter(Boolean).join('/');
      return names === '' ? '.' : `${names}${isFolder ? '/' : ''}`;
    } catch {
      missing.unshift(place.slice(dirname(place).length + 1));
      place = dirname(place);
    }
  }
  return path;
}
