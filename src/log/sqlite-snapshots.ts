/**
 * Snapshots in the SQLite file of a log, the newest two kept.
 *
 * A large one is stored in parts, each a transaction of its own with other work let in between,
 * because SQLite writes a row in one go. The row in `snapshots` comes last and holds the beginning, so
 * what a crash left half written is never found, and a small snapshot is that row alone.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SNAPSHOTS_KEPT } from './snapshot.ts';

export const PART_BYTES: number = 256 * 1024;

export interface SqliteSnapshots {
  save(position: number, bytes: Uint8Array): Promise<void>;
  /** The stored ones, newest first. */
  stored(): Iterable<Uint8Array>;
}

/** Made with the first snapshot that is saved: opening a file changes nothing in it. */
const PARTS_TABLE = `CREATE TABLE IF NOT EXISTS snapshot_parts
  (position INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL,
   PRIMARY KEY (position, part)) STRICT`;

export function createSqliteSnapshots(
  db: DatabaseSync,
  guard: <T>(tried: string, work: () => T) => T,
): SqliteSnapshots {
  function hasParts(): boolean {
    return Boolean(db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'snapshot_parts'").get());
  }

  function run(sql: string, ...values: (number | Uint8Array)[]): number {
    return guard('save a snapshot in', () => Number(db.prepare(sql).run(...values).changes));
  }

  /** Parts of no snapshot: of those that were dropped, and of one that a crash broke off. */
  async function dropParts(): Promise<void> {
    while (
      run(`DELETE FROM snapshot_parts WHERE rowid =
        (SELECT rowid FROM snapshot_parts WHERE position NOT IN (SELECT position FROM snapshots) LIMIT 1)`) >
      0
    ) {
      await nextTurn();
    }
  }

  return {
    async save(position, bytes) {
      guard('save a snapshot in', () => db.exec(PARTS_TABLE));
      run('DELETE FROM snapshots WHERE position = ?', position);
      await dropParts();
      for (let start = PART_BYTES; start < bytes.byteLength; start += PART_BYTES) {
        const part = bytes.subarray(start, start + PART_BYTES);
        run('INSERT INTO snapshot_parts VALUES (?, ?, ?)', position, start / PART_BYTES, part);
        await nextTurn();
      }
      run('INSERT INTO snapshots VALUES (?, ?)', position, bytes.subarray(0, PART_BYTES));
      run(
        // One that lies ahead is not ours: it is left there, and takes the place of none that is.
        `DELETE FROM snapshots WHERE position < ?1 AND position NOT IN
           (SELECT position FROM snapshots WHERE position <= ?1 ORDER BY position DESC LIMIT ${SNAPSHOTS_KEPT})`,
        position,
      );
      await dropParts();
    },
    *stored() {
      const rows = guard('read', () =>
        db.prepare('SELECT position, bytes FROM snapshots ORDER BY position DESC').all(),
      );
      for (const { position, bytes } of rows) {
        const parts = !hasParts()
          ? []
          : guard('read', () =>
              db
                .prepare('SELECT bytes FROM snapshot_parts WHERE position = ? ORDER BY part')
                .all(position as number),
            );
        const whole = [bytes, ...parts.map((part) => part.bytes)] as Uint8Array[];
        yield whole.length === 1 ? (bytes as Uint8Array) : Buffer.concat(whole);
      }
    },
  };
}
