/**
 * Opening an SQLite file as a log's: new ones are made ours, foreign and newer ones are left alone.
 *
 * Nothing is written before the file has been recognised, so a refusal changes nothing.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makePrivateDirectory, syncDirectory, touchPrivateFile } from './disk.ts';
import { LogError } from './log.ts';
import { syncLeftover } from './sqlite-wal.ts';

/** `Syno`, at the place where `file` and SQLite look for whose file it is. */
const APPLICATION_ID = 0x53_79_6e_6f;
const FORMAT = 1;
/** A file that was compacted: a program that knows nothing of that must leave it alone. */
export const COMPACTED_FORMAT = 2;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
const BUSY_TIMEOUT_MS = 2_000;
/** A WAL of so many pages is folded into the file. */
const WAL_PAGES = 1_000;
/** As long as that makes it: a page with its header of 24 bytes, behind one of 32. */
export const WAL_BYTES: number = 32 + WAL_PAGES * (4_096 + 24);

const SCHEMA = `
  BEGIN IMMEDIATE;
  ${batchesTable('batches')}
  CREATE TABLE snapshots (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
  COMMIT;`;

export function batchesTable(name: string): string {
  return `CREATE TABLE ${name} (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, bytes BLOB NOT NULL, head BLOB NOT NULL) STRICT;`;
}

/** Opens the file, makes it ours when it is empty, and refuses it when it is somebody else's. */
export function openDatabase(path: string, readOnly: boolean): DatabaseSync {
  if (readOnly) {
    if (!existsSync(path)) {
      throw new LogError('log.unavailable', `${path} does not exist; check the path`, { path });
    }
    const db = openReadOnly(path);
    return orClose(db, () => requireOurs(db, path));
  }
  makePrivateDirectory(dirname(path));
  // SQLite would create it readable by all; the WAL then takes its mode from this file.
  touchPrivateFile(path);
  requireSqliteFile(path);
  syncLeftover(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  return orClose(db, () => {
    if (pragma(db, 'page_count') === 0) {
      db.exec(SCHEMA);
      syncDirectory(dirname(path));
    }
    requireOurs(db, path);
    // What is appended is synced by us (sqlite-wal.ts); SQLite syncs what it must before and after it folds the WAL in.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // A WAL that grows costs each sync twice what one costs that is written over, so it is folded in soon.
    db.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES};`);
    // A large snapshot swells it; it is cut back to this once it is folded in.
    db.exec('PRAGMA journal_size_limit = 67108864;');
  });
}

function openReadOnly(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    pragma(db, 'application_id');
    return db;
  } catch (error) {
    db.close();
    // Without a WAL nobody is writing; in a directory we may not write to, SQLite must be told so.
    if (existsSync(`${path}-wal`)) throw error;
    return new DatabaseSync(new URL('?immutable=1', pathToFileURL(path)), { readOnly: true });
  }
}

/** SQLite takes a tiny foreign file for an empty database and would write over it; we look first. */
function requireSqliteFile(path: string): void {
  const handle = openSync(path, 'r');
  const start = Buffer.alloc(MAGIC.length);
  const length = readSync(handle, start);
  closeSync(handle);
  // A crash while the tables were being created leaves a journal that takes the file back to empty.
  if (length === 0 || start.equals(MAGIC) || existsSync(`${path}-journal`)) return;
  throw foreign(path);
}

function foreign(path: string): LogError {
  return new LogError(
    'log.corrupt',
    `${path} is not a Synod log; nothing was changed: choose another path or move that file away`,
    { path },
  );
}

function requireOurs(db: DatabaseSync, path: string): void {
  if (pragma(db, 'application_id') !== APPLICATION_ID) throw foreign(path);
  const format = pragma(db, 'user_version');
  if (format > COMPACTED_FORMAT) {
    throw new LogError(
      'log.newer',
      `${path} has format ${format} and this program knows up to ${COMPACTED_FORMAT}; nothing was changed: upgrade synod or choose another path`,
      { path },
    );
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

function orClose(db: DatabaseSync, prepare: () => void): DatabaseSync {
  try {
    prepare();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
