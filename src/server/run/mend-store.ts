/**
 * A store whose log breaks in the middle, mended: all that is sound goes into a new store with the positions
 * and heads it had, the next entry says what broke and where the rest is, and the broken store is kept
 * under another name. Nothing is cut from it [RC8]. A store that is no log of ours, or cannot be read at all, is
 * left as it is, and so is a compacted one: what is below its record is proved only as a whole.
 *
 * Two renames make the change. A crash between them leaves the new store under a name of its own, and
 * the next start finishes.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Break } from '../../core/docket/log-broken.ts';
import { encodeEvent } from '../../core/law/entry.ts';
import { anchorsPath } from '../../log/anchor-notes.ts';
import { decodeBatch, GENESIS } from '../../log/batch.ts';
import { syncDirectory, unavailable } from '../../log/disk.ts';
import { openFileLog } from '../../log/file.ts';
import { headsPath } from '../../log/heads-file.ts';
import { lockStore } from '../../log/lock.ts';
import { type Log, LogError, type StoredBatch } from '../../log/log.ts';
import { openSqliteLog } from '../../log/sqlite.ts';
import { writeSqliteBatches } from '../../log/sqlite-batches.ts';
import { createWalk } from '../../log/verify.ts';
import type { FilePlace } from '../record/keeper.ts';
import { storeFiles } from './open-log.ts';

/** In capitals, as no space is named. */
const MENDING = '.MENDING';
const MENDED = '.MENDED';
const SIDECARS = ['', '-wal', '-shm'];

/** What was found and done; null when there is nothing here that can be mended. */
export async function mendStore(place: FilePlace, now: number): Promise<Break | null> {
  const { kind, path } = place;
  const lock = lockStore(path, kind);
  try {
    const open = kind === 'sqlite' ? openSqliteLog : openFileLog;
    const broken = await openBroken(path, () => open(path, { readOnly: true }));
    if (broken === null) return null;
    const fresh = `${path}${MENDING}`;
    try {
      remove(fresh);
      const found = await copySound(broken, place.kind, fresh);
      if (found === null) return null;
      let at = now;
      while (existsSync(asideOf(path, at))) at++;
      const facts = { ...found, file: basename(asideOf(path, at)) };
      await finish(fresh, place.kind, facts, now);
      await broken.close();
      swap(path, asideOf(path, at), fresh);
      return facts;
    } finally {
      await broken.close();
      remove(fresh);
    }
  } finally {
    lock.release();
  }
}

/** Null when it cannot be read at all; then what SQLite laid beside it to try is taken away again. */
async function openBroken(path: string, open: () => Promise<Log>): Promise<Log | null> {
  const laid = SIDECARS.filter((end) => !existsSync(path + end));
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof LogError)) throw cause;
    for (const end of laid) rmSync(path + end, { force: true });
    return null;
  }
}

/** Finishes what a crash broke off between the two renames. To be called before stores are listed. */
export async function finishMending(store: string | null, dir: string): Promise<void> {
  const { folder, names } = await storeFiles(store, dir);
  for (const name of names.filter((one) => one.endsWith(MENDED))) {
    const from = join(folder, name);
    const to = from.slice(0, -MENDED.length);
    if (existsSync(to)) rmSync(from, { recursive: true, force: true });
    else renameSync(from, to);
  }
}

/** Everything before the first break; null when there is none, or nothing can be kept. */
async function copySound(
  broken: Log,
  kind: FilePlace['kind'],
  fresh: string,
): Promise<Omit<Break, 'file'> | null> {
  if (broken.compacted !== null) return null;
  const walk = createWalk(null);
  let head = GENESIS;
  let reason: string | null = null;
  async function* sound(): AsyncGenerator<StoredBatch> {
    try {
      for await (const batch of broken.batches(0)) {
        const problem = walk.take(batch);
        reason = problem?.reason ?? null;
        if (reason !== null) return;
        head = batch.head;
        yield batch;
      }
    } catch (cause) {
      if (!(cause instanceof LogError)) throw cause;
      reason = cause.message.slice(cause.code.length + 2);
    }
  }
  if (kind === 'sqlite') await writeSqliteBatches(fresh, sound());
  else await writeFileBatches(fresh, sound());
  return reason === null ? null : { through: walk.position, head, reason };
}

async function writeFileBatches(path: string, batches: AsyncIterable<StoredBatch>): Promise<void> {
  const log = await openFileLog(path);
  try {
    for await (const { first, bytes } of batches) await log.append(first, decodeBatch(bytes));
  } finally {
    await log.close();
  }
}

/** The entry that says what happened, behind what was sound; its head is the one it had. */
async function finish(
  fresh: string,
  kind: FilePlace['kind'],
  facts: Break,
  at: number,
): Promise<void> {
  const log = kind === 'sqlite' ? await openSqliteLog(fresh) : await openFileLog(fresh);
  try {
    if (log.length !== facts.through || log.head !== facts.head) {
      throw new LogError(
        'log.unavailable',
        `${fresh} does not hold what was sound; nothing was changed`,
      );
    }
    await log.append(log.length, [encodeEvent({ type: 'log.broken', at, ...facts })]);
  } finally {
    await log.close();
  }
}

function swap(path: string, aside: string, fresh: string): void {
  try {
    renameSync(fresh, `${path}${MENDED}`);
    for (const end of SIDECARS) if (existsSync(path + end)) renameSync(path + end, aside + end);
    renameSync(`${path}${MENDED}`, path);
    syncDirectory(dirname(path));
  } catch (cause) {
    throw unavailable(path, 'mend', cause);
  }
  // They are of the log that was kept, and stay with it.
  for (const beside of [headsPath, anchorsPath]) {
    if (existsSync(beside(path))) renameSync(beside(path), beside(aside));
  }
}

function asideOf(path: string, at: number): string {
  return `${path}.BROKEN-${at}`;
}

function remove(path: string): void {
  for (const end of SIDECARS) rmSync(path + end, { recursive: true, force: true });
}
