/**
 * The default log: one SQLite file, one row per append.
 *
 * An append is one sync of the WAL (sqlite-wal.ts), and what it acknowledged
 * survives power loss. A row is inserted only behind the tail it was chained
 * to, in one statement, so two openings of one file cannot fork it [G2]. A file that
 * is foreign, corrupt or newer is refused and left as it is.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBuffer, chainHead, GENESIS } from './batch.ts';
import type { BatchStorage, Tail } from './batch-log.ts';
import { lookOften, openBatchLog } from './batch-log.ts';
import type { Compacted, Log, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { createEntryReader } from './sqlite-entry.ts';
import { sqliteFailure } from './sqlite-error.ts';
import { batchesTable, COMPACTED_FORMAT, openDatabase, WAL_BYTES } from './sqlite-file.ts';
import { createSqliteSnapshots } from './sqlite-snapshots.ts';
import { createWal } from './sqlite-wal.ts';

export interface SqliteLogOptions {
  /** Opens beside a running hub, for verify and export: writes nothing, and does not refuse a damaged log. */
  readonly readOnly?: boolean;
}

/** Rows handed out by one load stop after this many bytes. */
const LOAD_BYTES_MAX = 1 << 17;
const LOAD_ROWS_MAX = 1_000;

export async function openSqliteLog(path: string, options: SqliteLogOptions = {}): Promise<Log> {
  return openBatchLog(openStorage(path, options.readOnly ?? false));
}

function openStorage(path: string, readOnly: boolean): BatchStorage {
  const db = guard(path, 'open', () => openDatabase(path, readOnly));
  try {
    const storage = guard(path, 'read', () => createStorage(db, path));
    if (!readOnly) guard(path, 'read', () => requireSoundTail(storage));
    return storage;
  } catch (error) {
    db.close();
    throw error;
  }
}

function createStorage(db: DatabaseSync, path: string): BatchStorage {
  const last = db.prepare('SELECT first, count, head FROM batches ORDER BY first DESC LIMIT 1');
  const at = db.prepare(
    'SELECT first, count, bytes, head FROM batches WHERE first <= ? ORDER BY first DESC LIMIT 1',
  );
  const after = db.prepare(
    `SELECT first, count, bytes, head FROM batches WHERE first > ? ORDER BY first LIMIT ${LOAD_ROWS_MAX}`,
  );
  // One statement is one transaction: the row goes in only behind the tail it was chained to.
  const insert = db.prepare(`
    INSERT INTO batches (first, count, bytes, head) SELECT ?1, ?2, ?3, ?4
    WHERE ?1 = coalesce((SELECT first + count FROM batches ORDER BY first DESC LIMIT 1), 0)
      AND ?5 = coalesce((SELECT head FROM batches ORDER BY first DESC LIMIT 1), zeroblob(32))`);

  const refresh = (): Tail => {
    const row = get(last);
    if (row === undefined) return { length: 0, head: GENESIS };
    return { length: row.first + row.count, head: asBuffer(row.head).toString('hex') };
  };
  const opened = refresh();
  const entry = createEntryReader(db);
  const snapshots = createSqliteSnapshots(db, (tried, work) => guard(path, tried, work));
  const wal = createWal(db, path, WAL_BYTES);

  const synced = (syncing: Promise<void> | undefined): boolean | Promise<boolean> =>
    syncing?.then(
      () => true,
      (error) => {
        throw sqliteFailure(path, 'append to', error);
      },
    ) ?? true;

  return {
    path,
    tail: () => opened,
    refresh: () =>
      guard(path, 'read', () => {
        wal.requireCertain();
        return refresh();
      }),
    watch: lookOften,
    write: (batch, previous) =>
      guard(path, 'append to', () => {
        wal.requireCertain();
        const head = Buffer.from(batch.head, 'hex');
        const before = Buffer.from(previous.head, 'hex');
        if (insert.run(batch.first, batch.count, batch.bytes, head, before).changes !== 1)
          return false;
        wal.makeRoom(batch.bytes.byteLength);
        return synced(wal.sync(batch.bytes.byteLength));
      }),
    load: (position, limit) =>
      guard(path, 'read', () => {
        const row = get(at, position);
        const start = row === undefined ? undefined : asBatch(row);
        // A position behind the batch found lies in a hole; what follows the hole shows how wide it is.
        const found = start === undefined || start.first + start.count <= position ? [] : [start];
        if (limit === 'one') return found;
        let bytes = found[0]?.bytes.byteLength ?? 0;
        if (bytes >= LOAD_BYTES_MAX) return found;
        for (const next of after.iterate(found[0]?.first ?? position)) {
          const batch = asBatch(next as unknown as Row);
          found.push(batch);
          bytes += batch.bytes.byteLength;
          if (bytes >= LOAD_BYTES_MAX) break;
        }
        return found;
      }),
    entry: (position) => guard(path, 'read', () => entry(position)),
    together: (reads) => inOneRead(db, path, reads),
    saveSnapshot: snapshots.save,
    snapshots: snapshots.stored,
    breathe: () => nextTurn(),
    compacted: () => guard(path, 'read', () => readCompacted(db)),
    replace: async (batches, compacted) => {
      await replaceBatches(db, path, batches, compacted);
      wal.renew();
    },
    // SQLite folds the WAL in when the last connection closes; if it cannot, the next opening does.
    close: () => {
      wal.close();
      guard(path, 'close', () => db.close());
    },
  };
}

/** Beginning to read and ending it is a third of what a lone statement costs: the file is locked for it. */
function inOneRead<Result>(db: DatabaseSync, path: string, reads: () => Result): Result {
  if (db.isTransaction) return reads();
  guard(path, 'read', () => db.exec('BEGIN'));
  try {
    return reads();
  } finally {
    guard(path, 'read', () => db.exec('COMMIT'));
  }
}

function readCompacted(db: DatabaseSync): Compacted | null {
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'compaction'").get();
  if (table === undefined) return null;
  const row = db.prepare('SELECT through, record FROM compaction').get() as Compacted | undefined;
  return row === undefined ? null : { through: row.through, record: row.record };
}

/**
 * One transaction, so that a crash leaves the old rows or the new; what is free is given back after it.
 * It is blank by then: what was dropped must not lie in the file because we got no further.
 */
async function replaceBatches(
  db: DatabaseSync,
  path: string,
  batches: AsyncIterable<StoredBatch>,
  { through, record }: Compacted,
): Promise<void> {
  guard(path, 'compact', () =>
    db.exec(`PRAGMA secure_delete = ON; BEGIN IMMEDIATE; ${batchesTable('fresh')}`),
  );
  try {
    const insert = db.prepare('INSERT INTO fresh (first, count, bytes, head) VALUES (?, ?, ?, ?)');
    for await (const { first, count, bytes, head } of batches) {
      insert.run(first, count, bytes, Buffer.from(head, 'hex'));
    }
    db.exec(`
      DROP TABLE batches;
      ALTER TABLE fresh RENAME TO batches;
      DROP TABLE IF EXISTS compaction;
      CREATE TABLE compaction (through INTEGER NOT NULL, record INTEGER NOT NULL) STRICT;
      INSERT INTO compaction VALUES (${through}, ${record});
      PRAGMA user_version = ${COMPACTED_FORMAT};
      COMMIT;`);
  } catch (error) {
    db.exec('ROLLBACK');
    throw error instanceof LogError ? error : sqliteFailure(path, 'compact', error);
  }
  guard(path, 'compact', () => db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);'));
}

/** A row of `batches`; STRICT tables hold the columns to these types. */
interface Row {
  readonly first: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly head: Uint8Array;
}

function get(statement: StatementSync, ...values: SQLInputValue[]): Row | undefined {
  return statement.get(...values) as Row | undefined;
}

function asBatch({ first, count, bytes, head }: Row): StoredBatch {
  return { first, count, bytes: asBuffer(bytes), head: asBuffer(head).toString('hex') };
}

/** The newest append must verify before anything is chained to it; `synod log verify` checks the rest. */
function requireSoundTail(storage: BatchStorage): void {
  const { length } = storage.tail();
  if (length === 0) return;
  const batch = storage.load(length - 1, 'one')[0];
  const before =
    batch === undefined || batch.first === 0 ? [] : storage.load(batch.first - 1, 'one');
  const previous = batch?.first === 0 ? GENESIS : before[0]?.head;
  if (batch && previous && chainHead(previous, batch.bytes) === batch.head) return;
  throw new LogError(
    'log.corrupt',
    `${storage.path} does not verify at position ${batch?.first ?? length - 1}; nothing was changed: run "synod log verify", then restore it from a copy or an export`,
    { path: storage.path },
  );
}

function guard<Result>(path: string, tried: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw sqliteFailure(path, tried, error);
  }
}
