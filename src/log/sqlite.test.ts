import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Log } from './log.ts';
import { LogError } from './log.ts';
import { openSqliteLog } from './sqlite.ts';
import { PART_BYTES } from './sqlite-snapshots.ts';
import { verifyLog } from './verify.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-sqlite-log-'));
afterAll(() => rmSync(root, { recursive: true }));

const ENTRIES = Array.from(
  { length: 30 },
  (_, index) => `entry ${index} ${'x'.repeat(index * 20)}`,
);

function freshPath(): string {
  return join(mkdtempSync(join(root, 'case-')), 'log.sqlite');
}

/** A closed log of ten appends of three entries. */
async function sample(): Promise<string> {
  const path = freshPath();
  const log = await openSqliteLog(path);
  for (let at = 0; at < ENTRIES.length; at += 3) await log.append(at, ENTRIES.slice(at, at + 3));
  await log.close();
  return path;
}

async function all(log: Log): Promise<string[]> {
  const entries: string[] = [];
  for await (const chunk of log.read(0)) entries.push(...chunk.entries);
  return entries;
}

test('[G7] a truncated write-ahead log leaves a whole prefix that verifies', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  for (let at = 0; at < ENTRIES.length; at++) await log.append(at, ENTRIES.slice(at, at + 1));
  const size = statSync(`${path}-wal`).size;
  const lengths = new Set<number>();
  for (let cut = 0; cut <= size; cut += 1_024) {
    const copy = freshPath();
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, cut);
    const found = await openSqliteLog(copy);
    expect(await all(found)).toEqual(ENTRIES.slice(0, found.length));
    expect(await verifyLog(found)).toMatchObject({ ok: true });
    expect(await found.append(found.length, ['on'])).toEqual({ length: found.length });
    lengths.add(found.length);
    await found.close();
  }
  expect(lengths.size).toBeGreaterThan(20);
  await log.close();
});

test('[G8] a changed bit is found by verify, or was in no stored byte', async () => {
  const path = await sample();
  const sound = readFileSync(path);
  let found = 0;
  for (let at = 0; at < sound.length; at += 61) {
    const bytes = Buffer.from(sound);
    bytes[at] = (bytes[at] ?? 0) ^ 0x20;
    writeFileSync(path, bytes);
    if (await isFound(path)) found++;
    else {
      const log = await openSqliteLog(path, { readOnly: true });
      expect(await all(log), `byte ${at}`).toEqual(ENTRIES);
      await log.close();
    }
  }
  expect(found).toBeGreaterThan(50);
});

async function isFound(path: string): Promise<boolean> {
  try {
    const log = await openSqliteLog(path, { readOnly: true });
    try {
      return !(await verifyLog(log)).ok;
    } finally {
      await log.close();
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    // A changed bit in the format number reads as a newer format; the file is refused either way.
    return error.code === 'log.corrupt' || error.code === 'log.newer';
  }
}

test('[G8] a changed entry is named exactly and is never served', async () => {
  const path = await sample();
  const bytes = readFileSync(path);
  // Pages that SQLite has rearranged hold stale copies; the live one is among them.
  for (let at = bytes.indexOf('entry 7 '); at >= 0; at = bytes.indexOf('entry 7 '))
    bytes[at] = 0x45;
  writeFileSync(path, bytes);
  const log = await openSqliteLog(path);
  expect(await verifyLog(log)).toMatchObject({ ok: false, position: 7 });
  await expect(log.at([7])).rejects.toMatchObject({ code: 'log.corrupt', path });
  expect(await log.at([6])).toEqual([ENTRIES[6]]);
  await log.close();
});

test('[G8] an entry that is read without its batch is the one stored, or is refused', async () => {
  const path = freshPath();
  const entries = Array.from({ length: 100 }, (_, i) => `${i} `.repeat(10 + i));
  const log = await openSqliteLog(path);
  await log.append(0, entries);
  await log.append(100, ['last']);
  const lone = [3, 60, 99];
  for (const position of lone) expect(await log.at([position])).toEqual([entries[position]]);
  expect(await log.at(lone)).toEqual(lone.map((position) => entries[position]));
  await log.close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA synchronous = OFF');
  const { bytes } = db.prepare('SELECT bytes FROM batches WHERE first = 0').get() as {
    bytes: Uint8Array;
  };
  const change = db.prepare('UPDATE batches SET bytes = ? WHERE first = 0');
  const reader = await openSqliteLog(path, { readOnly: true });
  let refused = 0;
  for (let at = 0; at < bytes.length; at += 31) {
    const copy = bytes.slice();
    copy[at] = (copy[at] as number) ^ 0x81;
    change.run(copy);
    for (const position of lone) {
      const read = await reader.at([position]).catch((error: LogError) => error.code);
      if (read === 'log.corrupt') refused++;
      else expect(read).toEqual([entries[position]]);
    }
  }
  expect(refused).toBeGreaterThan(lone.length);
  // Of a batch that is no batch any more nothing is there; what lies beside it is.
  for (const rest of [0, 3, 11]) {
    change.run(bytes.slice(0, rest));
    for (const asked of [[60], lone]) {
      await expect(reader.at(asked)).rejects.toMatchObject({ code: 'log.corrupt', path });
    }
    expect(await reader.at([100])).toEqual(['last']);
  }
  await reader.close();
  db.close();
});

test('[G5] an entry that is read without its batch may say anything that text can', async () => {
  const log = await openSqliteLog(freshPath());
  const entries = Array.from({ length: 60 }, (_, i) => `${'\u0000é\ufeff😀\u{10ffff}'.repeat(i)}`);
  await log.append(0, entries);
  for (const position of [40, 0, 20]) {
    expect(await log.at([position])).toEqual([entries[position]]);
  }
  expect(await log.at([59, 0, 30])).toEqual([entries[59], entries[0], entries[30]]);
  await log.close();
});

test.each([
  ['a row removed', 'DELETE FROM batches WHERE first = 9', 9],
  ['a first row removed', 'DELETE FROM batches WHERE first = 0', 0],
  ['a head replaced', 'UPDATE batches SET head = zeroblob(32) WHERE first = 12', 12],
  ['a count replaced', 'UPDATE batches SET count = 2 WHERE first = 6', 6],
  ['no count at all', 'UPDATE batches SET count = 0 WHERE first = 6', 6],
  ['two rows swapped', 'UPDATE batches SET first = 3 - first WHERE first IN (0, 3)', 0],
])('[G8] %s is found by verify', async (_what, sql, position) => {
  const path = await sample();
  const db = new DatabaseSync(path);
  // SQLite checks uniqueness row by row, so a swap goes by way of a free key.
  if (sql.includes('3 - first')) {
    db.exec('UPDATE batches SET first = 1000 WHERE first = 0');
    db.exec('UPDATE batches SET first = 0 WHERE first = 3');
    db.exec('UPDATE batches SET first = 3 WHERE first = 1000');
  } else db.exec(sql);
  db.close();
  const log = await openSqliteLog(path, { readOnly: true });
  expect(await verifyLog(log)).toMatchObject({ ok: false, position });
  await log.close();
});

test('a log whose newest append does not verify is refused for writing and left alone', async () => {
  const path = await sample();
  const db = new DatabaseSync(path);
  db.exec('UPDATE batches SET head = zeroblob(32) WHERE first = 27');
  db.close();
  const before = readFileSync(path);
  await expect(openSqliteLog(path)).rejects.toMatchObject({
    code: 'log.corrupt',
    path,
    message: expect.stringMatching(/position 27.*synod log verify/),
  });
  expect(readFileSync(path)).toEqual(before);
});

test('a newer format is refused with the way out, and nothing is changed', async () => {
  const path = await sample();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 3');
  db.close();
  const before = readFileSync(path);
  for (const readOnly of [false, true]) {
    await expect(openSqliteLog(path, { readOnly })).rejects.toMatchObject({
      code: 'log.newer',
      path,
      message: expect.stringMatching(/format 3.*upgrade synod/),
    });
  }
  expect(readFileSync(path)).toEqual(before);
});

test.each([
  ['a few bytes', Buffer.from('x')],
  ['a short text', Buffer.from('my notes\n')],
  ['a long text', Buffer.from('my notes\n'.repeat(2_000))],
  ['zeros', Buffer.alloc(8_192)],
  ['the start of a database', Buffer.from('SQLite format 3\0 and then nonsense'.repeat(100))],
])('a foreign file (%s) is refused and left as it is', async (_what, content) => {
  const path = freshPath();
  writeFileSync(path, content);
  for (const readOnly of [false, true]) {
    await expect(openSqliteLog(path, { readOnly })).rejects.toMatchObject({
      code: 'log.corrupt',
      path,
      message: expect.stringContaining(path),
    });
  }
  expect(readFileSync(path)).toEqual(content);
});

test('another program’s database is refused and left as it is', async () => {
  const path = freshPath();
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE batches (first INTEGER PRIMARY KEY); INSERT INTO batches VALUES (1)');
  db.close();
  const before = readFileSync(path);
  await expect(openSqliteLog(path)).rejects.toMatchObject({ code: 'log.corrupt', path });
  expect(readFileSync(path)).toEqual(before);
});

test('a read-only opening sees a log that a hub is writing, and changes nothing', async () => {
  const path = freshPath();
  const hub = await openSqliteLog(path);
  await hub.append(0, ['a', 'b']);
  const reader = await openSqliteLog(path, { readOnly: true });
  await hub.append(2, ['c']);
  expect(await verifyLog(reader)).toMatchObject({ ok: true, length: 3 });
  await expect(reader.append(3, ['x'])).rejects.toMatchObject({ code: 'log.unavailable' });
  await reader.close();
  expect(await hub.append(3, ['d'])).toEqual({ length: 4 });
  await hub.close();
});

test('a read-only opening of a missing file creates nothing', async () => {
  const path = freshPath();
  await expect(openSqliteLog(path, { readOnly: true })).rejects.toMatchObject({
    code: 'log.unavailable',
  });
  expect(existsSync(path)).toBe(false);
});

test('files are the owner’s alone', async () => {
  const path = join(mkdtempSync(join(root, 'case-')), 'new', 'log.sqlite');
  const log = await openSqliteLog(path);
  await log.append(0, ['a']);
  const dir = join(path, '..');
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(readdirSync(dir)).toContain('log.sqlite-wal');
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  await log.close();
});

test('[H8] snapshots that lie ahead are left there, and crowd out none of ours', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  await log.append(0, ['x']);
  const db = new DatabaseSync(path);
  db.exec("INSERT INTO snapshots VALUES (500, x'00'), (600, x'00')");
  const snapshot = { position: 1, head: log.head, text: 'ours' };
  await log.saveSnapshot(snapshot);
  expect(await log.loadSnapshot()).toEqual(snapshot);
  await log.close();
  expect(db.prepare('SELECT position FROM snapshots').all()).toHaveLength(3);
  db.close();
});

test('[H20] a large snapshot is stored in parts, with other work between them', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  await log.append(0, ['a']);
  const text = 'é'.repeat(2 * PART_BYTES);
  let isSaved = false;
  const saving = log.saveSnapshot({ position: 1, head: log.head, text }).then(() => {
    isSaved = true;
  });
  const db = new DatabaseSync(path);
  const count = (): unknown => db.prepare('SELECT count(*) AS parts FROM snapshot_parts').get();
  let appends = 1;
  const appending = (async () => {
    for (; !isSaved; await new Promise(setImmediate)) await log.append(appends++, ['b']);
  })();
  const counts = new Set<string>();
  while (!isSaved) {
    await new Promise(setImmediate);
    const isBegun = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'snapshot_parts'").get();
    if (isBegun) counts.add(JSON.stringify(count()));
  }
  await Promise.all([saving, appending]);
  // Somebody else has seen it grow.
  expect(counts.size).toBeGreaterThan(2);
  expect(appends).toBeGreaterThan(1);
  expect((await log.loadSnapshot())?.text).toBe(text);
  // What a crash left half written is not found, and goes with the next.
  db.exec("INSERT INTO snapshot_parts VALUES (2, 1, x'00')");
  expect((await log.loadSnapshot())?.position).toBe(1);
  for (const position of [appends, appends + 1, appends + 2]) {
    await log.append(log.length, ['c']);
    await log.saveSnapshot({ position: position + 1, head: log.head, text: 'small' });
  }
  expect(count()).toEqual({ parts: 0 });
  db.close();
  await log.close();
});

test('only the newest two snapshots are kept, and a damaged one gives way to the older', async () => {
  const path = freshPath();
  const log = await openSqliteLog(path);
  for (let turn = 0; turn < 4; turn++) {
    await log.append(turn, ['x']);
    await log.saveSnapshot({ position: turn + 1, head: log.head, text: `${turn}` });
  }
  const db = new DatabaseSync(path);
  expect(db.prepare('SELECT position FROM snapshots').all()).toEqual([
    { position: 3 },
    { position: 4 },
  ]);
  db.exec("UPDATE snapshots SET bytes = x'00' WHERE position = 4");
  db.close();
  expect((await log.loadSnapshot())?.text).toBe('2');
  await log.close();
});
