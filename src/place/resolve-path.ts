/**
 * The one name of a path on this disk, for files that exist and for files that do not yet.
 *
 * Symlinks are followed as the kernel follows them, dangling ones too, because writing through one
 * makes its target [GI5]. Where a folder takes two spellings for one entry (letter case, Unicode
 * forms), the spelling on disk is the name: told by the inode, never by the platform [GI6].
 */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { type Problem, problem, quoted } from './problem.ts';

export const PATH_CHARS_MAX = 4_096;
/** As many as Linux follows. */
const LINKS_MAX = 40;

/** What is asked of the disk. */
export interface Disk {
  lstat(path: string): Promise<{
    readonly dev: number;
    readonly ino: number;
    isSymbolicLink(): boolean;
  }>;
  readdir(path: string): Promise<string[]>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
}

export const DISK: Disk = {
  lstat: (path) => lstat(path),
  readdir: (path) => readdir(path),
  readlink: (path) => readlink(path),
  realpath: (path) => realpath(path),
};

export interface ResolveOptions {
  /** Whether a symlink at the very end stands for its target (a write) or itself (rm, git). */
  readonly isFollowed?: boolean;
  readonly disk?: Disk;
}

export async function resolvePath(
  path: string,
  cwd: string,
  { isFollowed = true, disk = DISK }: ResolveOptions = {},
): Promise<string | Problem> {
  const bad = whyInvalid(path);
  if (bad !== null) return bad;
  try {
    return await walk(path, cwd, isFollowed, disk);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return problem(
      'path.invalid',
      `${quoted(path)} cannot be looked up (${code ?? message})`,
      'check the path, and that you may read the folders on the way',
    );
  }
}

function whyInvalid(path: string): Problem | null {
  const why =
    path === ''
      ? 'an empty path names nothing'
      : path.includes('\0')
        ? `${quoted(path)} holds a NUL character`
        : path.length > PATH_CHARS_MAX
          ? `a path of ${path.length} characters is longer than ${PATH_CHARS_MAX}`
          : null;
  return why === null ? null : problem('path.invalid', why, 'name a file, a folder or a glob');
}

async function walk(
  path: string,
  cwd: string,
  isFollowed: boolean,
  disk: Disk,
): Promise<string | Problem> {
  const { root } = parse(path);
  let current = isAbsolute(path) ? root : await disk.realpath(cwd);
  const ahead = segments(isAbsolute(path) ? path.slice(root.length) : path).reverse();
  /** How many segments at the end of `current` are not on disk. */
  let missing = 0;
  let links = 0;
  for (let segment = ahead.pop(); segment !== undefined; segment = ahead.pop()) {
    if (segment === '..') {
      current = dirname(current);
      missing = Math.max(0, missing - 1);
      continue;
    }
    const found = missing > 0 ? null : await look(join(current, segment), disk);
    if (found === null) {
      current = join(current, segment);
      missing++;
    } else if (found.isSymbolicLink() && (isFollowed || ahead.length > 0)) {
      if (++links > LINKS_MAX) return tooManyLinks(path);
      const target = await disk.readlink(join(current, segment));
      const { root: targetRoot } = parse(target);
      if (isAbsolute(target)) current = targetRoot;
      ahead.push(
        ...segments(isAbsolute(target) ? target.slice(targetRoot.length) : target).reverse(),
      );
    } else {
      current = join(current, await nameOnDisk(current, segment, found, disk));
    }
  }
  return current;
}

function segments(path: string): string[] {
  const parts = sep === '\\' ? path.split(/[\\/]/) : path.split('/');
  return parts.filter((part) => part !== '' && part !== '.');
}

type Found = Awaited<ReturnType<Disk['lstat']>>;

async function look(path: string, disk: Disk): Promise<Found | null> {
  try {
    return await disk.lstat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** The folder is read only when it answers to another spelling of the name as well. */
async function nameOnDisk(folder: string, name: string, found: Found, disk: Disk): Promise<string> {
  const isSame = async (spelling: string) => {
    const other = await look(join(folder, spelling), disk);
    return other !== null && other.ino === found.ino && other.dev === found.dev;
  };
  let isAliased = false;
  for (const spelling of spellings(name)) isAliased ||= await isSame(spelling);
  if (!isAliased) return name;
  const names = await disk.readdir(folder);
  if (names.includes(name)) return name;
  const alike = names.filter((one) => folded(one) === folded(name));
  for (const one of alike) if (await isSame(one)) return one;
  return name;
}

function spellings(name: string): string[] {
  const swapped = [...name]
    .map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()))
    .join('');
  const all = [swapped, name.normalize('NFC'), name.normalize('NFD')];
  return [...new Set(all)].filter((one) => one !== name);
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function tooManyLinks(path: string): Problem {
  return problem(
    'path.loop',
    `${quoted(path)} leads through more than ${LINKS_MAX} symlinks`,
    'one of them leads back to itself; mend it',
  );
}
