/**
 * Room in the write-ahead log of an SQLite file, ahead of what is written. A sync costs about twice as much when
 * the file has grown: where it ends and which blocks are its own is then written as well. While the log is
 * young it is therefore given as much again as it has, in zeros, about when SQLite comes to its end; once it is as long
 * as it gets before it is folded in, it is written over for ever. For SQLite zeros are where the log ends, as is
 * what an earlier round left behind. Without room all is as safe, and slower.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const ZEROS = Buffer.alloc(64 * 1024);
/** What an append takes besides its own bytes: it may need more pages, and then the log grows by itself for a while. */
const PAGE_BYTES = 4_096 + 24;

export interface WalRoom {
  /** After so much was appended, outside of any transaction. */
  provide(bytes: number): void;
  /** The log was cut off, and grows again. */
  renew(): void;
}

/** @param enough How long the log is given room at the most. */
export function createWalRoom(db: DatabaseSync, path: string, enough: number): WalRoom {
  let isDone = false;
  /**
   * As far as can be reckoned. The file is not asked for its size each time: since Linux 6.13 the next write to a file that
   * was looked at brings it a new time, and the sync has that to write as well.
   */
  let left = 0;

  /** Nobody else writes to it meanwhile, or zeros would lie over what was acknowledged. */
  function fill(): void {
    db.exec('BEGIN IMMEDIATE');
    const handle = openSync(`${path}-wal`, 'r+');
    try {
      const { size } = fstatSync(handle);
      const end = Math.min(size + Math.max(size, ZEROS.length), enough);
      for (let at = size; at < end; ) {
        at += writeSync(handle, ZEROS, 0, Math.min(ZEROS.length, end - at), at);
      }
      left = end - size;
      isDone = end >= enough;
    } finally {
      closeSync(handle);
      db.exec('COMMIT');
    }
  }

  return {
    provide(bytes) {
      if (isDone) return;
      left -= PAGE_BYTES + bytes;
      if (left > 0) return;
      try {
        fill();
      } catch {
        // A full disk, or somebody who holds the file: what is appended next tells, if it matters.
        isDone = true;
      }
    },
    renew() {
      left = 0;
      isDone = false;
    },
  };
}
