/** A new SQLite log with batches as they are given, heads and all, in one transaction. */
import { DatabaseSync } from 'node:sqlite';
import type { StoredBatch } from './log.ts';
import { openSqliteLog } from './sqlite.ts';
import { sqliteFailure } from './sqlite-error.ts';

export async function writeSqliteBatches(
  path: string,
  batches: AsyncIterable<StoredBatch>,
): Promise<void> {
  // Makes the file, its tables and its mode.
  await (await openSqliteLog(path)).close();
  const db = new DatabaseSync(path);
  try {
    db.exec('BEGIN IMMEDIATE');
    const insert = db.prepare(
      'INSERT INTO batches (first, count, bytes, head) VALUES (?, ?, ?, ?)',
    );
    for await (const { first, count, bytes, head } of batches) {
      insert.run(first, count, bytes, Buffer.from(head, 'hex'));
    }
    db.exec('COMMIT');
  } catch (cause) {
    throw sqliteFailure(path, 'write', cause);
  } finally {
    db.close();
  }
}
