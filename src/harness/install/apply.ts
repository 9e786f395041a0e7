/**
 * Changes carried out: all of them or none.
 *
 * Everything is looked at before anything is written; a file that is read-only, or is not what the
 * plan saw, refuses the whole [IN5]. Each file is written beside itself and renamed into place, with
 * the mode it had, and through a link to where it leads [IN6]. When a later one fails, the earlier
 * ones are put back [IN7].
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CONFIG_BYTES_MAX } from './document.ts';
import type { Change } from './plan.ts';
import { type InstallProblem, isProblem, problem } from './problem.ts';

const LINKS_MAX = 40;

interface Step extends Change {
  /** Where the file really is. */
  readonly target: string;
  readonly stat: Stats | null;
}

/** Null when all is done. */
export function applyChanges(changes: readonly Change[]): InstallProblem | null {
  const steps: Step[] = [];
  for (const change of changes) {
    const step = check(change);
    if (isProblem(step)) return step;
    steps.push(step);
  }
  const done: Step[] = [];
  const made: string[] = [];
  let at: Step | null = null;
  try {
    for (const step of steps) {
      at = step;
      made.push(...carryOut(step));
      done.push(step);
    }
  } catch (error) {
    const lost = rollBack(done, made);
    return unwritable(at?.path ?? '', error, lost);
  }
  for (const { folders = [] } of done) removeEmpty(folders);
  return null;
}

/** The bytes of a file, null where there is none. */
export function readBytes(path: string): Buffer | null | InstallProblem {
  try {
    const target = followLinks(path);
    const stat = statSync(target, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isFile()) {
      return problem(
        'install.not-a-file',
        `${path} is there and is no file`,
        'move it away and run this again',
      );
    }
    if (stat.size > CONFIG_BYTES_MAX) {
      return problem(
        'install.too-large',
        `${path} has ${stat.size} bytes; a configuration has at most ${CONFIG_BYTES_MAX}`,
        'look what it is, and move it away',
      );
    }
    return readFileSync(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return null;
    return unwritable(path, error, []);
  }
}

/** Folders above a path that are not there, outermost first. */
export function missingFolders(path: string): string[] {
  const missing: string[] = [];
  let folder = dirname(followLinks(path));
  while (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    missing.unshift(folder);
    folder = dirname(folder);
  }
  return missing;
}

/** Where a link leads, also when nothing is there yet: dotfiles are often kept elsewhere. */
function followLinks(path: string): string {
  let target = path;
  for (let i = 0; i < LINKS_MAX; i++) {
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw new Error(`${path} is a link that leads to itself`);
}

function check(change: Change): Step | InstallProblem {
  const { path, before } = change;
  const now = readBytes(path);
  if (isProblem(now)) return now;
  const isSame = now === null ? before === null : before !== null && now.equals(before);
  if (!isSame) {
    return problem(
      'install.changed-meanwhile',
      `${path} was changed by somebody else in this moment, so nothing was written`,
      'run this again',
    );
  }
  const target = followLinks(path);
  const stat = statSync(target, { throwIfNoEntry: false }) ?? null;
  const folder = nearestFolder(dirname(target));
  // A superuser could write all the same, but somebody has said no.
  if (stat !== null && (stat.mode & 0o222) === 0) return readOnly(path, path);
  const folderStat = statSync(folder);
  if (!folderStat.isDirectory() || (folderStat.mode & 0o222) === 0) return readOnly(path, folder);
  return { ...change, target, stat };
}

function readOnly(path: string, what: string): InstallProblem {
  return problem(
    'install.read-only',
    `${path} cannot be written because ${what === path ? 'it' : what} is read-only; nothing was written`,
    `make it writable (chmod u+w ${JSON.stringify(what)}) and run this again`,
  );
}

function nearestFolder(folder: string): string {
  let found = folder;
  while (statSync(found, { throwIfNoEntry: false }) === undefined) found = dirname(found);
  return found;
}

/** The folders that had to be made for it. */
function carryOut({ path, target, after, stat, mode, folderMode }: Step): string[] {
  if (after === null) {
    rmSync(target, { force: true });
    return [];
  }
  const made = missingFolders(path);
  for (const folder of made)
    mkdirSync(folder, folderMode === undefined ? {} : { mode: folderMode });
  writeWhole(target, after, stat, mode);
  return made;
}

function writeWhole(target: string, bytes: Buffer, stat: Stats | null, mode?: number): void {
  const draft = join(dirname(target), `.${basename(target)}.synod-${process.pid}`);
  rmSync(draft, { force: true });
  try {
    const file = openSync(draft, 'wx', mode ?? 0o666);
    try {
      writeFileSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (stat !== null) chmodSync(draft, stat.mode & 0o7777);
    else if (mode !== undefined) chmodSync(draft, mode);
    if (stat !== null) keepOwner(draft, stat);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function keepOwner(draft: string, { uid, gid }: Stats): void {
  const own = statSync(draft);
  if (own.uid === uid && own.gid === gid) return;
  try {
    chownSync(draft, uid, gid);
  } catch {
    // Only a superuser may give files away; the file is then ours, with the mode it had.
  }
}

/** The files that could not be put back. */
function rollBack(done: readonly Step[], made: readonly string[]): string[] {
  const lost: string[] = [];
  for (const { path, target, before, stat } of done.toReversed()) {
    try {
      if (before === null) rmSync(target, { force: true });
      else writeWhole(target, before, stat);
    } catch {
      lost.push(path);
    }
  }
  removeEmpty(made);
  return lost;
}

function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Somebody else's things are in it, or it is gone.
      return;
    }
  }
}

function unwritable(path: string, error: unknown, lost: readonly string[]): InstallProblem {
  const { message } = error as Error;
  const state =
    lost.length === 0
      ? 'everything is as it was'
      : `these could not be put back: ${lost.join(', ')}`;
  return problem(
    'install.unwritable',
    `${path}: ${message}; ${state}`,
    'look at the disk and the rights of that folder, and run this again',
  );
}
