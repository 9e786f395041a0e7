/**
 * Files that only their owner reads, written so that a crash leaves the old or the new.
 *
 * Whatever the disk refuses becomes LogError 'log.unavailable' that names the
 * file, what was tried, and what to do about it.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LogError } from './log.ts';

export const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

const WAYS_OUT: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space and try again',
  EDQUOT: 'the disk quota is used up: free some space and try again',
  EFBIG: 'the file may not grow further: raise the file size limit and try again',
  EROFS: 'the file system is read-only: mount it writable or choose another directory',
  EACCES: 'permission is denied: give this user access or choose another directory',
  EPERM: 'permission is denied: give this user access or choose another directory',
  ENOENT: 'it does not exist: check the path',
  ENOTDIR: 'part of the path is not a directory: check the path',
  EMFILE: 'too many files are open: raise the limit of open files and try again',
  EIO: 'the disk failed: check its health and restore from a copy if needed',
};

/** The failure of a system call on `path` as the log says it. */
export function unavailable(path: string, tried: string, cause: unknown): LogError {
  if (cause instanceof LogError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const wayOut = WAYS_OUT[code] ?? 'see the cause';
  return new LogError('log.unavailable', `cannot ${tried} ${path} (${code}); ${wayOut}`, {
    cause,
    path,
  });
}

export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  } catch (cause) {
    throw unavailable(path, 'create the directory', cause);
  }
}

const WRITABLE_BY_OTHERS = 0o022;

/**
 * A directory whose content is believed: credentials, what to load, where the hub is. One that another
 * user owns or may write to is refused, because that user could put anything there [ST2].
 */
export function makeOwnDirectory(path: string): void {
  makePrivateDirectory(path);
  const { uid, mode } = statSync(path);
  const own = process.getuid?.() ?? uid;
  if (uid !== own) {
    const whose = `${path} belongs to another user (${uid}, and this is ${own})`;
    const wayOut = 'give it to this user (chown), or choose another with --dir';
    throw new LogError('log.unavailable', `${whose}; ${wayOut}`, { path });
  }
  if ((mode & WRITABLE_BY_OTHERS) === 0) return;
  const why = `other users may write to ${path} (mode ${(mode & 0o777).toString(8)})`;
  const wayOut = `close it with "chmod go-w ${path}", or choose another with --dir`;
  throw new LogError('log.unavailable', `${why}; ${wayOut}`, { path });
}

/** Creates the file if it is missing, for its owner alone, and proves that we may write to it. */
export function touchPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', PRIVATE_FILE));
  } catch (cause) {
    throw unavailable(path, 'open', cause);
  }
}

/** Makes the names in a directory durable: a new or renamed file is lost in a crash without it. */
export function syncDirectory(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a small file whole or not at all. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  replace(path, content, true);
}

/** The same for what means nothing once this process has ended: a crash of the system may take it along. */
export function replaceBriefly(path: string, content: string): void {
  replace(path, content, false);
}

function replace(path: string, content: string | Uint8Array, isKept: boolean): void {
  const draft = `${path}.draft`;
  try {
    writeFileSync(draft, content, { mode: PRIVATE_FILE, flush: isKept });
    renameSync(draft, path);
    if (isKept) syncDirectory(dirname(path));
  } catch (cause) {
    rmSync(draft, { force: true });
    throw unavailable(path, 'write', cause);
  }
}

/** The same without holding up the process, for files that may be large. */
export async function replaceLargeFile(path: string, content: Uint8Array): Promise<void> {
  const draft = `${path}.draft`;
  try {
    const file = await open(draft, 'w', PRIVATE_FILE);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    syncDirectory(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true });
    throw unavailable(path, 'write', cause);
  }
}
