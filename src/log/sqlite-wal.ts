/**
 * The write-ahead log of an SQLite file, beside what SQLite does with it.
 *
 * It is synced here and not by SQLite, which would hold up everybody for as long as the disk takes. And it has room ahead of
 * what is written: a sync costs about twice as much when the file has grown, because where it ends and which blocks are its
 * own is then written as well. While the log is young it is therefore given as much again as it has, in zeros, about when
 * SQLite comes to its end; once it is as long as it gets before it is folded in, it is written over for ever. For SQLite
 * zeros are where the log ends, as is what an earlier round left behind. Without room all is as safe, and slower.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const ZEROS = Buffer.alloc(64 * 1024);
/** What an append takes besides its own bytes: it may need more pages, and then the log grows by itself for a while. */
const PAGE_BYTES = 4_096 + 24;
/**
 * To have another thread sync costs some forty microseconds, and whoever waits for that alone waits longer: what is little is
 * waited for while the disk is quick. That it is so is found out by waiting, now and then also where it was slow.
 */
const LITTLE_BYTES = 64 * 1024;
const QUICK_MS = 0.5;
const LOOK_AGAIN = 32;

export interface Wal {
  /** Resolves when all that was written is on the disk, which is so much; undefined when it is there at once. */
  sync(bytes: number): Promise<void> | undefined;
  /** Throws as long as a sync has failed and what it was for is not on the disk by another way. */
  requireCertain(): void;
  /** After so much was appended, outside of any transaction. */
  makeRoom(bytes: number): void;
  /** The log was cut off, and grows again. */
  renew(): void;
  close(): void;
}

/**
 * What a process that was ended had written can be read, and may be on no disk yet: it is synced before anybody is told of it.
 */
export function syncLeftover(path: string): void {
  const wal = `${path}-wal`;
  if (!existsSync(wal)) return;
  const handle = openSync(wal, 'r+');
  try {
    fdatasyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** @param enough How long the log is given room at the most. */
export function createWal(db: DatabaseSync, path: string, enough: number): Wal {
  let handle = -1;
  let usualMs = 0;
  let sinceLook = 0;
  let hasRoom = false;
  let doubted: unknown = null;
  /**
   * As far as can be reckoned. The file is not asked for its size each time: since Linux 6.13 the next write to a file that
   * was looked at brings it a new time, and the sync has that to write as well.
   */
  let left = 0;

  /** SQLite makes the file with the first write, and keeps it until it is closed. */
  function opened(): number {
    if (handle < 0) handle = openSync(`${path}-wal`, 'r+');
    return handle;
  }

  function syncNow(): void {
    const from = performance.now();
    try {
      fdatasyncSync(opened());
    } catch (error) {
      doubt(error);
    }
    usualMs += (performance.now() - from - usualMs) / 4;
    sinceLook = 0;
  }

  function syncMeanwhile(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const settle = (error: unknown): void => {
        if (error === null) return resolve();
        try {
          doubt(error);
          resolve();
        } catch (cause) {
          reject(cause);
        }
      };
      try {
        fdatasync(opened(), settle);
      } catch (error) {
        settle(error);
      }
    });
  }

  /**
   * What a sync failed to write is taken for written by the next one, which then says that all is well. It can be read all
   * the same, and nobody may be told so before it is folded into the file itself, which writes it anew and syncs that.
   */
  function doubt(error: unknown): void {
    doubted = error;
    requireCertain();
  }

  function requireCertain(): void {
    if (doubted === null) return;
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    if (busy !== 0) throw doubted;
    doubted = null;
    renew();
  }

  function renew(): void {
    left = 0;
    hasRoom = false;
  }

  /** Nobody else writes to it meanwhile, or zeros would lie over what was acknowledged. */
  function fill(): void {
    db.exec('BEGIN IMMEDIATE');
    try {
      const { size } = fstatSync(opened());
      const end = Math.min(size + Math.max(size, ZEROS.length), enough);
      for (let at = size; at < end; ) {
        at += writeSync(handle, ZEROS, 0, Math.min(ZEROS.length, end - at), at);
      }
      left = end - size;
      hasRoom = end >= enough;
    } finally {
      db.exec('COMMIT');
    }
  }

  return {
    sync(bytes) {
      const isQuick = usualMs < QUICK_MS || ++sinceLook >= LOOK_AGAIN;
      if (bytes > LITTLE_BYTES || !isQuick) return syncMeanwhile();
      syncNow();
      return undefined;
    },
    requireCertain,
    makeRoom(bytes) {
      if (hasRoom) return;
      left -= PAGE_BYTES + bytes;
      if (left > 0) return;
      try {
        fill();
      } catch {
        // A full disk, or somebody who holds the file: what is appended next tells, if it matters.
        hasRoom = true;
      }
    },
    renew,
    close() {
      if (handle >= 0) closeSync(handle);
      handle = -1;
    },
  };
}
