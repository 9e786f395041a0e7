/**
 * One process owns a data directory; a second is told who does.
 *
 * The lock is an SQLite exclusive transaction, that is a lock of the operating
 * system: it goes with the process, even on kill -9, so it is never stale. Who
 * holds it is written beside it in holder.json, for people; it decides nothing.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateDirectory, replaceFile, touchPrivateFile } from './disk.ts';
import { LogError } from './log.ts';
import { sqliteFailure } from './sqlite-error.ts';

export interface DirectoryLock {
  release(): void;
}

/** Who holds a directory, as holder.json tells it. */
export interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly command: string;
}

const SQLITE_BUSY = 5;
const COMMAND_CHARACTERS_MAX = 200;

/** Held databases: one that nobody refers to would be collected, and its lock with it. */
const held = new Set<DatabaseSync>();

export function lockDirectory(dir: string): DirectoryLock {
  const path = join(dir, 'lock.sqlite');
  const holderPath = join(dir, 'holder.json');
  makePrivateDirectory(dir);
  touchPrivateFile(path);
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
    const holder: Holder = {
      pid: process.pid,
      since: new Date().toISOString(),
      // The program and its verb; what follows may hold secrets.
      command: process.argv.slice(1, 3).join(' ').slice(0, COMMAND_CHARACTERS_MAX),
    };
    replaceFile(holderPath, `${JSON.stringify(holder)}\n`);
  } catch (error) {
    db.close();
    throw isBusy(error) ? locked(dir, holderPath, error) : sqliteFailure(path, 'lock', error);
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

/** Who holds the directory as far as anybody has written down; null when nobody has. */
export function readHolder(dir: string): Holder | null {
  try {
    const holder = JSON.parse(readFileSync(join(dir, 'holder.json'), 'utf8'));
    return typeof holder?.pid === 'number' && typeof holder.since === 'string' ? holder : null;
  } catch {
    // Missing or half there: the lock itself says all that matters.
    return null;
  }
}

function locked(dir: string, path: string, cause: unknown): LogError {
  const holder = readHolder(dir);
  const who =
    holder === null
      ? 'another process'
      : `process ${holder.pid} since ${holder.since} (${holder.command})`;
  const wayOut = holder === null ? 'stop it' : `stop it (kill ${holder.pid})`;
  return new LogError(
    'log.locked',
    `${dir} is in use by ${who}; ${wayOut} or choose another directory`,
    {
      cause,
      path,
    },
  );
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
  );
}
