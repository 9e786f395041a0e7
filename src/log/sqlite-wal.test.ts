/** The write-ahead log as we sync it and make room in it: disks that fail, processes that are ended, two who write. */
import fs, { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Log } from './log.ts';
import { LogError } from './log.ts';
import { openSqliteLog } from './sqlite.ts';
import { verifyLog } from './verify.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-sqlite-wal-'));
afterAll(() => rmSync(root, { recursive: true }));

const ENTRIES = ['first', 'second', 'third'];

function freshPath(): string {
  return join(mkdtempSync(join(root, 'case-')), 'log.sqlite');
}

/** A closed log of a few appends. */
async function sample(): Promise<string> {
  const path = freshPath();
  const log = await openSqliteLog(path);
  for (const [at, entry] of ENTRIES.entries()) await log.append(at, [entry]);
  await log.close();
  return path;
}

async function all(log: Log): Promise<string[]> {
  const entries: string[] = [];
  for await (const chunk of log.read(0)) entries.push(...chunk.entries);
  return entries;
}

test('[G3] the write-ahead log has room ahead while it is young, and nothing acknowledged lies under it', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  const sizes = new Set<number>();
  for (let at = 0; at < 1_500; at++) {
    await log.append(at, [`entry ${at}`]);
    sizes.add(statSync(`${path}-wal`).size);
    if (at % 100 !== 0) continue;
    // As a power cut would leave it.
    const copy = freshPath();
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    const found = await openSqliteLog(copy);
    expect(found.length).toBe(at + 1);
    expect(await verifyLog(found)).toMatchObject({ ok: true });
    await found.close();
  }
  // It grew with every append until it was folded in; a sync of what grew takes twice as long.
  expect(sizes.size).toBeLessThan(20);
  await log.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('[G2] [G3] room is made over nothing that another opening stored', async () => {
  const path = freshPath();
  const logs = [await openSqliteLog(path), await openSqliteLog(path)] as const;
  const entries: string[] = [];
  for (let turn = 0; entries.length < 300; turn++) {
    const log = logs[turn % 2] as Log;
    // Runs of different length: each makes room now and then where the other has written since.
    for (let run = 0; run <= turn % 7; run++) {
      const entry = `entry ${entries.length} ${'x'.repeat((turn % 5) * 900)}`;
      while ('conflict' in (await log.append(entries.length, [entry])));
      entries.push(entry);
    }
  }
  for (const log of logs) await log.close();
  const found = await openSqliteLog(path);
  expect(await all(found)).toEqual(entries);
  expect(await verifyLog(found)).toMatchObject({ ok: true });
  await found.close();
});

/** The disk says that it could not, as long as this lasts. */
function failSyncs(): Disposable {
  const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  return failing({
    fdatasync: (_: number, done: (error: Error) => void) => setImmediate(done, failure),
    fdatasyncSync() {
      throw failure;
    },
  });
}

/** No file can be opened beside those that are open. */
function failOpens(code: string): Disposable {
  const { openSync } = fs;
  return failing({
    openSync(...given: Parameters<typeof openSync>) {
      if (!String(given[0]).endsWith('-wal')) return openSync(...given);
      throw Object.assign(new Error(`${code}: open`), { code });
    },
  });
}

function failing(instead: object): Disposable {
  const own = Object.fromEntries(
    Object.keys(instead).map((name) => [name, fs[name as keyof typeof fs]]),
  );
  Object.assign(fs, instead);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      Object.assign(fs, own);
      syncBuiltinESMExports();
    },
  };
}

const LITTLE = ['lost?'];
const MUCH = Array.from({ length: 80 }, () => 'x'.repeat(1_000));
test.each([
  ['one entry', failSyncs, LITTLE],
  ['much at once', failSyncs, MUCH],
  ['one entry that there is no file to sync by', () => failOpens('EMFILE'), LITTLE],
  ['much that there is no file to sync by', () => failOpens('EMFILE'), MUCH],
])(
  '[G3] what a sync failed to write is stored in the file itself before it is acknowledged: %s',
  async (_, fail, more) => {
    const path = await sample();
    const log = await openSqliteLog(path);
    using failure = fail();
    expect(await log.append(ENTRIES.length, more)).toEqual({
      length: ENTRIES.length + more.length,
    });
    expect(failure).toBeDefined();
    // Without what lies beside it, which may not have come to the disk.
    const copy = freshPath();
    copyFileSync(path, copy);
    const found = await openSqliteLog(copy);
    expect(await all(found)).toEqual([...ENTRIES, ...more]);
    await found.close();
    await log.close();
  },
);

test('[G3] [G9] what is on no disk is neither acknowledged nor read, until it is', async () => {
  const path = await sample();
  const log = await openSqliteLog(path);
  // Somebody reads, so that nothing can be folded in either.
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM batches');
  {
    using failure = failSyncs();
    await expect(log.append(ENTRIES.length, ['lost?'])).rejects.toThrow(LogError);
    expect(failure).toBeDefined();
  }
  expect(log.length).toBe(ENTRIES.length);
  await expect(all(log)).rejects.toThrow(LogError);
  // The next sync would say that all is well.
  await expect(log.append(ENTRIES.length, ['next'])).rejects.toThrow(LogError);
  reader.exec('COMMIT');
  reader.close();
  expect(await all(log)).toEqual([...ENTRIES, 'lost?']);
  expect(await log.append(ENTRIES.length + 1, ['next'])).toEqual({ length: ENTRIES.length + 2 });
  await log.close();
});

test('[G3] what a killed process wrote is on the disk before it is read, or the log is not opened', async () => {
  const path = await sample();
  const log = await openSqliteLog(path);
  await log.append(ENTRIES.length, ['written']);
  const left = freshPath();
  for (const end of ['', '-wal']) copyFileSync(path + end, left + end);
  await log.close();
  {
    using failure = failSyncs();
    await expect(openSqliteLog(left)).rejects.toThrow(/EIO.*check its health/);
    expect(failure).toBeDefined();
  }
  {
    using failure = failOpens('EACCES');
    await expect(openSqliteLog(left)).rejects.toThrow(/EACCES.*give this user access/);
    expect(failure).toBeDefined();
  }
  const found = await openSqliteLog(left);
  expect(await all(found)).toEqual([...ENTRIES, 'written']);
  await found.close();
});

test('[G1] [G2] what is appended while another append waits for the disk comes after it', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  const large = 'x'.repeat(100_000);
  const first = log.append(0, [large, 'b']);
  expect(log.length).toBe(0);
  const [stored, stale, next] = await Promise.all([
    first,
    log.append(0, ['y']),
    first.then(() => log.append(2, ['c', large])),
  ]);
  expect([stored, stale, next]).toEqual([{ length: 2 }, { conflict: 2 }, { length: 4 }]);
  const last = log.append(4, [large, 'f']);
  await log.close();
  expect(await last).toEqual({ length: 6 });
  const found = await openSqliteLog(path);
  expect(await all(found)).toEqual([large, 'b', 'c', large, large, 'f']);
  await found.close();
});
