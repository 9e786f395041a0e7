/** What every log refuses to hand out, and in which words: a position that is not there, bytes that changed. */
import { decodeBatch, firstBadEntry } from './batch.ts';
import { LogError, type Snapshot, type StoredBatch } from './log.ts';

/** Entries in one chunk, at most. */
export const CHUNK_ENTRIES_MAX = 4096;

/**
 * The entries of a stored batch from `position` on, each checked against its checksum; where the batch is known to
 * make the head it carries, no byte of it can have changed.
 */
export function checkedEntries(
  batch: StoredBatch,
  position: number,
  path: string,
  isChained = false,
): string[] {
  if (!holds(batch, position)) throw missing(path, position);
  const bad = isChained ? null : firstBadEntry(batch.bytes);
  if (bad !== null) throw corruptAt(path, batch.first + bad);
  const entries = decodeBatch(batch.bytes);
  if (entries.length !== batch.count) throw corruptAt(path, batch.first);
  return position === batch.first ? entries : entries.slice(position - batch.first);
}

export function holds(batch: StoredBatch | undefined, position: number): batch is StoredBatch {
  return batch !== undefined && position >= batch.first && position < batch.first + batch.count;
}

export function requirePosition(from: number, length: number, path: string): void {
  if (!Number.isInteger(from) || from < 0 || from > length) throw outOfRange(path, from, length);
}

export function outOfRange(path: string, position: number, length: number): LogError {
  return new LogError('log.position', `${path} holds ${length} entries; there is no ${position}`, {
    path,
  });
}

export function missing(path: string, position: number): LogError {
  return new LogError(
    'log.corrupt',
    `${path} has no entry at position ${position} though later ones are stored; run "synod log verify" and restore the log from a copy or an export`,
    { path },
  );
}

export function foreignSnapshot(path: string, snapshot: Snapshot | null, length: number): LogError {
  const what =
    snapshot === null
      ? 'does not verify'
      : snapshot.position > length
        ? `is of ${snapshot.position} entries, and the log has ${length}: if no older copy was put in its place, entries are missing`
        : `is not of this log: another chain led to entry ${snapshot.position}`;
  return new LogError(
    'log.snapshot',
    `a snapshot in ${path} ${what}; it is left as it is and the log alone is read: run "synod log verify", then restore the log it belongs to or remove the snapshot`,
    { path },
  );
}

export function corruptAt(path: string, position: number): LogError {
  return new LogError(
    'log.corrupt',
    `${path} holds changed bytes at position ${position}; run "synod log verify" and restore the log from a copy or an export`,
    { path },
  );
}
