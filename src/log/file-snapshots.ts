/**
 * Snapshots of the file log: one file each, renamed into place whole, the newest two kept.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceLargeFile, unavailable } from './disk.ts';
import { SNAPSHOTS_KEPT } from './snapshot.ts';

const SNAPSHOT_NAME = /^\d{16}\.snapshot$/;

export interface FileSnapshots {
  save(position: number, bytes: Uint8Array): Promise<void>;
  /** The stored ones, newest first. */
  stored(): Iterable<Uint8Array>;
  /** Removes what a crash left half written. */
  removeDrafts(): void;
}

export function createFileSnapshots(dir: string): FileSnapshots {
  // Zero-padded names sort by position.
  const newestFirst = (): string[] =>
    readdirSync(dir)
      .filter((name) => SNAPSHOT_NAME.test(name))
      .sort()
      .reverse();
  return {
    async save(position, bytes) {
      const saved = `${String(position).padStart(16, '0')}.snapshot`;
      await replaceLargeFile(join(dir, saved), bytes);
      // One that lies ahead is not ours: it is left there, and takes the place of none that is.
      const ours = newestFirst().filter((name) => name <= saved);
      for (const name of ours.slice(SNAPSHOTS_KEPT)) rmSync(join(dir, name), { force: true });
    },
    *stored() {
      for (const name of newestFirst()) {
        const path = join(dir, name);
        try {
          yield readFileSync(path);
        } catch (cause) {
          throw unavailable(path, 'read', cause);
        }
      }
    },
    removeDrafts() {
      for (const name of readdirSync(dir)) {
        if (name.endsWith('.snapshot.draft')) rmSync(join(dir, name), { force: true });
      }
    },
  };
}
