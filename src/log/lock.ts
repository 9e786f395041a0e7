/**
 * A store has one process that writes to it, and a data directory one that runs from it; a
 * second is told who that is.
 *
 * The lock is an SQLite exclusive transaction, that is a lock of the operating
 * system: it goes with the process, even on kill -9, so it is never stale. Who
 * holds it is written beside it, for people; that decides nothing.
 */
import { closeSync, existsSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  makeOwnDirectory,
  makePrivateDirectory,
  PRIVATE_FILE,
  replaceBriefly,
  touchPrivateFile,
  unavailable,
} from './disk.ts';
import { LogError } from './log.ts';
import { sqliteFailure } from './sqlite-error.ts';

export interface Lock {
  release(): void;
}

/** Who holds a lock, as it is written beside it. */
export interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly command: string;
}

interface LockPlace {
  /** What is locked, as messages name it, and what to choose instead. */
  readonly subject: string;
  readonly instead: string;
  readonly path: string;
  readonly holderPath: string;
}

const SQLITE_BUSY = 5;
const COMMAND_CHARACTERS_MAX = 200;

/** Held databases: one that nobody refers to would be collected, and its lock with it. */
const held = new Set<DatabaseSync>();

export function lockDirectory(dir: string): Lock {
  makeOwnDirectory(dir);
  return takeLock({
    ...{ subject: dir, instead: 'another directory' },
    path: join(dir, 'lock.sqlite'),
    holderPath: holderPathOf(dir),
  });
}

/** Locks the store at a path, however the path is spelt: links are followed first. */
export function lockStore(path: string, kind: 'file' | 'sqlite'): Lock {
  const real = followed(path, kind);
  return takeLock({
    ...{ subject: `the store ${path}`, instead: 'another store' },
    // In capitals, as no space is named: these lie where other spaces' stores may.
    path: `${real}.LOCK`,
    holderPath: `${real}.HOLDER`,
  });
}

/** Where the store really lies. It must be there to be followed, so a new one is begun. */
function followed(path: string, kind: 'file' | 'sqlite'): string {
  if (!existsSync(path)) {
    makePrivateDirectory(kind === 'file' ? path : dirname(path));
    if (kind === 'sqlite') touchPrivateFile(path);
  }
  try {
    return realpathSync.native(path);
  } catch (cause) {
    throw unavailable(path, 'open', cause);
  }
}

function takeLock(place: LockPlace): Lock {
  const { path, holderPath } = place;
  createOnce(path);
  const db = openLock(path);
  try {
    db.exec('BEGIN EXCLUSIVE');
    const holder: Holder = {
      pid: process.pid,
      since: new Date().toISOString(),
      // The program and its verb; what follows may hold secrets.
      command: process.argv.slice(1, 3).join(' ').slice(0, COMMAND_CHARACTERS_MAX),
    };
    replaceBriefly(holderPath, `${JSON.stringify(holder)}\n`);
  } catch (error) {
    db.close();
    throw isBusy(error) ? locked(place, error) : sqliteFailure(path, 'lock', error);
  }
  held.add(db);
  return {
    release() {
      if (!held.delete(db)) return;
      rmSync(holderPath, { force: true });
      db.close();
    },
  };
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw sqliteFailure(path, 'lock', error);
  }
}

/**
 * For its owner alone, as SQLite would not make it. A file that is there is not even opened: in the
 * process that holds the lock, closing it again would let go of the lock.
 */
function createOnce(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') return;
    throw unavailable(path, 'open', cause);
  }
}

/** Who holds the directory as far as anybody has written down; null when nobody has. */
export function readHolder(dir: string): Holder | null {
  return readHolderAt(holderPathOf(dir));
}

function holderPathOf(dir: string): string {
  return join(dir, 'holder.json');
}

function readHolderAt(path: string): Holder | null {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8'));
    return typeof holder?.pid === 'number' && typeof holder.since === 'string' ? holder : null;
  } catch {
    // Missing or half there: the lock itself says all that matters.
    return null;
  }
}

function locked({ subject, instead, holderPath }: LockPlace, cause: unknown): LogError {
  const holder = readHolderAt(holderPath);
  const who =
    holder === null
      ? 'another process'
      : `process ${holder.pid} since ${holder.since} (${holder.command})`;
  const wayOut = holder === null ? 'stop it' : `stop it ("synod down", or kill ${holder.pid})`;
  return new LogError(
    'log.locked',
    `${subject} is in use by ${who}; ${wayOut} or choose ${instead}`,
    {
      cause,
      path: holderPath,
    },
  );
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
  );
}
