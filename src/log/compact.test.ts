/** Compaction over every adapter: what goes, what stays provable, what a crash leaves. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type CompactionFacts, compactLog, measureCompaction } from './compact.ts';
import { openFileLog } from './file.ts';
import type { Log } from './log.ts';
import { createMemoryStore, openMemoryLog } from './memory.ts';
import { openSqliteLog } from './sqlite.ts';
import { exportLog, importLog, verifyArchive } from './transfer.ts';
import { verifyLog } from './verify.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-compact-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
let count = 0;

const old = (n: number): string =>
  JSON.stringify({ old: n, body: `secret ${n} ${'.'.repeat(60)}` });
const stub = (n: number): string => JSON.stringify({ old: n, dropped: true, body: {} });
/** Drops the bodies of old entries. */
const drop = (entry: string): string | null => {
  const n = /^{"old":(\d+),"body"/.exec(entry)?.[1];
  return n === undefined ? null : stub(Number(n));
};
const record = (facts: CompactionFacts): string => JSON.stringify({ type: 'log.compacted', facts });

async function linesOf(log: Log, from = 0): Promise<string[]> {
  const lines: string[] = [];
  await exportLog(log, from, (line) => void lines.push(line));
  return lines;
}

async function entriesOf(log: Log): Promise<string[]> {
  const entries: string[] = [];
  for await (const chunk of log.read(0)) entries.push(...chunk.entries);
  return entries;
}

async function fill(log: Log): Promise<Log> {
  await log.append(0, [old(1), 'kept 1']);
  await log.append(2, ['kept 2']);
  await log.append(3, [old(2), old(3)]);
  return log;
}

const ADAPTERS: readonly [string, () => () => Promise<Log>][] = [
  [
    'memory',
    () =>
      (
        (store) => async () =>
          openMemoryLog(store)
      )(createMemoryStore()),
  ],
  [
    'file',
    () =>
      (
        (dir) => () =>
          openFileLog(dir)
      )(join(work, `log${count++}`)),
  ],
  [
    'sqlite',
    () =>
      (
        (path) => () =>
          openSqliteLog(path)
      )(join(work, `log${count++}.sqlite`)),
  ],
];

describe.each(ADAPTERS)('over %s', (_, storage) => {
  test('[G13] what was dropped is gone, positions and heads stay, and the log verifies', async () => {
    const open = storage();
    const log = await fill(await open());
    const { head } = log;
    const before = await linesOf(log);
    const facts = await compactLog(log, drop, record);
    expect(facts).toMatchObject({ through: 5, head, dropped: 3 });
    expect(facts.bytesAfter).toBeLessThan(facts.bytesBefore);
    const compacted = await open();
    expect((await entriesOf(compacted)).slice(0, 5)).toEqual([
      stub(1),
      'kept 1',
      'kept 2',
      stub(2),
      stub(3),
    ]);
    expect(compacted.length).toBe(6);
    expect(await verifyLog(compacted)).toMatchObject({
      ok: true,
      length: 6,
      compacted: { through: 5, head, dropped: 3 },
    });
    expect(await verifyArchive(compacted, before)).toEqual({ ok: true, length: 5, head });
    await compacted.append(6, [old(9)]);
    expect(await verifyLog(compacted)).toMatchObject({ ok: true, length: 7 });
    await compacted.close();
  });

  test('[G13] it can be done again, and nothing is done where nothing is to go', async () => {
    const open = storage();
    await compactLog(await fill(await open()), drop, record);
    const log = await open();
    expect((await compactLog(log, drop, record)).dropped).toBe(0);
    await log.append(6, [old(4), 'kept 3']);
    expect(await measureCompaction(log, drop)).toMatchObject({ through: 8, dropped: 1 });
    expect((await entriesOf(log))[6]).toBe(old(4));
    await compactLog(log, drop, record);
    const again = await open();
    expect(await verifyLog(again)).toMatchObject({ ok: true, compacted: { through: 8 } });
    await again.close();
  });

  test('[G11] [G13] a compacted log is exported and imported with its proof, or not at all', async () => {
    const open = storage();
    await compactLog(await fill(await open()), drop, record);
    const log = await open();
    const lines = await linesOf(log);
    await expect(linesOf(log, 3)).rejects.toThrow('export from 0, or from 5 on');
    const openCopy = storage();
    const changed = lines.map((line) => line.replace('kept 2', 'kept X'));
    await expect(importLog(await openCopy(), changed)).rejects.toThrow('log.corrupt');
    expect(await importLog(await openCopy(), lines)).toMatchObject({ length: 6, appended: 6 });
    const copy = await openCopy();
    expect(await verifyLog(copy)).toEqual(await verifyLog(log));
    await expect(importLog(copy, lines)).rejects.toThrow('log.diverged');
    await copy.close();
    await log.close();
  });

  test('[G14] an archive of another history is refused, with the place', async () => {
    const open = storage();
    const log = await fill(await open());
    const lines = await linesOf(log);
    const other = openMemoryLog();
    await other.append(0, [old(1), 'kept 1']);
    await other.append(2, ['another']);
    await compactLog(log, drop, record);
    const compacted = await open();
    expect(await verifyArchive(compacted, await linesOf(other))).toMatchObject({
      ok: false,
      position: 2,
    });
    const forged = lines.map((line) => line.replace('secret 2', 'secret X'));
    expect(await verifyArchive(compacted, forged)).toMatchObject({ ok: false, position: 3 });
    await compacted.close();
  });
});

test('[G13] a changed byte below the compaction is found, also where its checksum was made anew', async () => {
  const path = join(work, 'changed.sqlite');
  await compactLog(await fill(await openSqliteLog(path)), drop, record);
  const other = openMemoryLog();
  await other.append(0, ['kept X']);
  for await (const { bytes } of other.batches(0)) {
    const db = new DatabaseSync(path);
    db.prepare('UPDATE batches SET bytes = ? WHERE first = 2').run(bytes);
    db.close();
  }
  const log = await openSqliteLog(path);
  const verified = await verifyLog(log);
  expect(verified).toMatchObject({ ok: false, position: 2 });
  await expect(compactLog(log, drop, record)).rejects.toThrow('does not verify');
  await log.close();
});

describe('a change that is passed off as a compaction, with a record of its own', () => {
  const forge = (entry: string): string | null => entry.replace('kept', 'never') || null;
  const onlyForged = (from: string) => (entry: string) =>
    entry.startsWith(from) ? forge(entry) : drop(entry);

  test('[G13] is found where no body was dropped', async () => {
    const store = createMemoryStore();
    await compactLog(await fill(openMemoryLog(store)), onlyForged('kept 2'), record);
    const forged = openMemoryLog(store);
    expect(await verifyLog(forged)).toMatchObject({ ok: false, position: 2 });
  });

  test('[G14] is found by an archive wherever it lies', async () => {
    const store = createMemoryStore();
    const log = await fill(openMemoryLog(store));
    const archive = await linesOf(log);
    await compactLog(log, onlyForged('kept 1'), record);
    const forged = openMemoryLog(store);
    expect((await entriesOf(forged)).slice(0, 2)).toEqual([stub(1), 'never 1']);
    expect(await verifyArchive(forged, archive)).toMatchObject({ ok: false, position: 1 });
  });

  test('[G14] is found by an archive where a dropped entry says another thing of itself', async () => {
    const store = createMemoryStore();
    const log = await fill(openMemoryLog(store));
    const archive = await linesOf(log);
    await compactLog(log, (entry) => (entry === old(3) ? stub(7) : drop(entry)), record);
    expect(await verifyArchive(openMemoryLog(store), archive)).toMatchObject({
      ok: false,
      position: 4,
    });
  });
});

test('[G13] the dropped text is in none of the files', async () => {
  const dir = join(work, 'files');
  await compactLog(await fill(await openFileLog(dir)), drop, record);
  const path = join(work, 'files.sqlite');
  await compactLog(await fill(await openSqliteLog(path)), drop, record);
  const files = [...readdirSync(dir).map((name) => join(dir, name)), path];
  for (const file of files) expect(readFileSync(file).includes('secret')).toBe(false);
});

test('[G13] nor when the process ends before SQLite has given its pages back', async () => {
  const path = join(work, 'early.sqlite');
  const log = await fill(await openSqliteLog(path));
  const { exec } = DatabaseSync.prototype;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    if (sql.includes('VACUUM')) throw new Error('killed');
    exec.call(this, sql);
  });
  await expect(compactLog(log, drop, record)).rejects.toThrow();
  spy.mockRestore();
  await log.close();
  const compacted = await openSqliteLog(path);
  expect(await verifyLog(compacted)).toMatchObject({ ok: true, compacted: { dropped: 3 } });
  await compacted.close();
  expect(readFileSync(path).includes('secret')).toBe(false);
});

describe('[G12] a crash while files are replaced', () => {
  /** The directory before, and what the new segments would be. */
  async function scene(): Promise<{ before: string; after: string }> {
    const before = join(work, `crash${count++}`);
    await (await fill(await openFileLog(before))).close();
    const after = `${before}-after`;
    cpSync(before, after, { recursive: true });
    await compactLog(await openFileLog(after), drop, record);
    return { before, after };
  }
  const segmentsIn = (dir: string) => readdirSync(dir).filter((name) => name.endsWith('.segment'));

  test('before the moment it happened leaves the old log', async () => {
    const { before, after } = await scene();
    for (const name of segmentsIn(after)) cpSync(join(after, name), join(before, `${name}.fresh`));
    const log = await openFileLog(before);
    expect([log.length, log.compacted]).toEqual([5, null]);
    expect(readdirSync(before).filter((name) => name.endsWith('.fresh'))).toEqual([]);
    await log.close();
  });

  test('a program that knows nothing of compaction is kept off before that moment', async () => {
    const dir = join(work, `crash${count++}`);
    const log = await fill(await openFileLog(dir));
    // What is in its place keeps the deciding file from being renamed.
    const stopped = compactLog(log, drop, (facts) => {
      mkdirSync(join(dir, 'compaction'));
      return record(facts);
    });
    await expect(stopped).rejects.toThrow('cannot write');
    expect(readFileSync(join(dir, 'format'), 'utf8')).toBe('synod-log 2\n');
    await log.close();
    rmdirSync(join(dir, 'compaction'));
    const again = await openFileLog(dir);
    expect([again.length, again.compacted]).toEqual([5, null]);
    await again.close();
  });

  test('after it is finished by the next opening, wherever it stopped', async () => {
    const { before, after } = await scene();
    const segments = segmentsIn(after);
    expect(segments.length).toBe(2);
    for (const renamed of [0, 1, 2]) {
      const dir = `${before}-${renamed}`;
      cpSync(before, dir, { recursive: true });
      writeFileSync(join(dir, 'compaction'), JSON.stringify({ through: 5, record: 5, segments }));
      segments.forEach((name, i) => {
        cpSync(join(after, name), join(dir, i < renamed ? name : `${name}.fresh`));
      });
      await expect(openFileLog(dir, { readOnly: true })).rejects.toThrow('broken off');
      const log = await openFileLog(dir);
      expect(await verifyLog(log)).toMatchObject({
        ok: true,
        length: 6,
        compacted: { through: 5 },
      });
      await log.close();
    }
  });
});
