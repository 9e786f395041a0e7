/**
 * The file of an index: made when there is none, refused when it cannot be what we wrote. It says how far
 * in the log it has come and what the last entry was, so that an index of another log is known [FT5].
 * Nothing in it is the only copy of anything.
 */
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SHARD_TABLES } from './shards.ts';

/** Of the tables and of how a text is cut into words: another version is built anew. */
const VERSION = 2;
const BUSY_TIMEOUT_MS = 5_000;
const IN_MEMORY = ':memory:';

const TABLES = `
  ${SHARD_TABLES}
  CREATE TABLE place (position INTEGER NOT NULL, last TEXT NOT NULL) STRICT;
  INSERT INTO place VALUES (0, '');
  CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE channels (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, is_open INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE spread (shard INTEGER NOT NULL, channel INTEGER NOT NULL, PRIMARY KEY (shard, channel))
    STRICT, WITHOUT ROWID;
  CREATE TABLE guarded (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE leaving (channel INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (channel, key))
    STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${VERSION};`;

/** Throws what SQLite says when the file is no index, or not whole. */
export function openIndexFile(path: string): DatabaseSync {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would create it readable by all; the WAL then takes its mode from this file.
    closeSync(openSync(path, 'a', 0o600));
  }
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    db.exec('PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -8000;');
    db.exec('BEGIN IMMEDIATE');
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    const isEmpty = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n === 0;
    if (isEmpty) db.exec(TABLES);
    else if (version !== VERSION) throw new Error(`an index of version ${version}`);
    db.exec('COMMIT');
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

export function deleteIndexFile(path: string): void {
  if (path === IN_MEMORY) return;
  for (const end of INDEX_FILES) rmSync(path + end, { force: true });
}

/** An index and what SQLite keeps beside it. */
const INDEX_FILES = ['', '-wal', '-shm', '-journal'];
