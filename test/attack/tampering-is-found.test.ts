/**
 * Somebody can write the data directory: what they change is found, and what they forge is not
 * believed. Each case works on a copy of a directory that a hub has used; an untouched copy is sound.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { type Verified, verifyLog } from '../../src/log/verify.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-tampering-'));
const used = join(work, 'used');
let observer = '';
beforeAll(async () => {
  const hub = await openRunningHub({ dir: used });
  const made = await hub.admin('tokens_create', { agent_id: 'olga', kind: 'observer' });
  observer = made.token;
  for (let i = 0; i < 12; i++) await hub.ask('ada', 'send', { channel: 'work', body: { i } });
  await hub.close();
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

function copy(): string {
  const dir = mkdtempSync(join(work, 'copy-'));
  cpSync(used, dir, { recursive: true });
  return dir;
}

const pathIn = (dir: string): string => join(dir, 'spaces', 'default.sqlite');

async function withLog<T>(dir: string, look: (log: Log) => Promise<T>): Promise<T> {
  const log = await openSqliteLog(pathIn(dir), { readOnly: true });
  try {
    return await look(log);
  } finally {
    await log.close();
  }
}

const verified = (dir: string): Promise<Verified> => withLog(dir, verifyLog);

async function withHub<T>(dir: string, use: (hub: RunningHub) => Promise<T>): Promise<T> {
  const hub = await openRunningHub({ dir });
  try {
    return await use(hub);
  } finally {
    await hub.close();
  }
}

/** Changes the newest snapshot, so well that nothing but its name in the chain can tell. */
function forgeSnapshot(dir: string, forge: (text: string) => string, moveTo?: number): void {
  const db = new DatabaseSync(pathIn(dir));
  const row = db.prepare('SELECT position, bytes FROM snapshots ORDER BY position DESC').get();
  const bytes = Buffer.from(row?.bytes as Uint8Array);
  const end = bytes.indexOf('\n');
  const { position, head } = JSON.parse(bytes.toString('utf8', 0, end));
  const text = forge(bytes.toString('utf8', end + 1));
  const sha256 = createHash('sha256').update(`${position} ${head}\n`).update(text).digest('hex');
  const forged = Buffer.from(`${JSON.stringify({ position, head, sha256 })}\n${text}`);
  db.prepare('UPDATE snapshots SET bytes = ?, position = ? WHERE position = ?').run(
    ...([forged, moveTo ?? position, position] as const),
  );
  db.close();
}

const promote = (text: string): string => {
  expect(text).toContain('"kind":"observer"');
  return text.replace('"kind":"observer"', '"kind":"admin"');
};

async function mayAdminister(hub: RunningHub): Promise<boolean> {
  const headers = { authorization: `Bearer ${observer}` };
  const { status } = await hub.post('tokens_create', { agent_id: 'eve', kind: 'agent' }, headers);
  return status === 200;
}

describe('a snapshot', () => {
  test('[H21] that is untouched is named by an entry, believed, and verifies', async () => {
    const dir = copy();
    expect(await verified(dir)).toMatchObject({ ok: true });
    const log = await withHub(dir, async (hub) => {
      expect(await mayAdminister(hub)).toBe(false);
      return hub.log;
    });
    expect(log.filter((line) => line.includes('snapshot'))).toEqual([]);
    // Nothing happened but what was refused: one more snapshot, and its name.
    expect(await verified(dir)).toMatchObject({ ok: true });
  });

  test('[H21] that makes an observer an administrator is not believed but built again, and verify says so', async () => {
    const dir = copy();
    forgeSnapshot(dir, promote);
    expect(await verified(dir)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('no entry names the snapshot'),
    });
    const log = await withHub(dir, async (hub) => {
      expect(await mayAdminister(hub)).toBe(false);
      return hub.log;
    });
    expect(log.filter((line) => line.includes('does not name the snapshot'))).toHaveLength(1);
    // It was built again, and the forged one is gone with the next.
    expect(await withHub(dir, mayAdminister)).toBe(false);
    expect(await verified(dir)).toMatchObject({ ok: true });
  });

  test('[H21] from before snapshots were named is not believed either; verify calls that no break', async () => {
    const dir = copy();
    // As a program from before would have left it: the chain ends before the name.
    const db = new DatabaseSync(pathIn(dir));
    db.exec('DELETE FROM batches WHERE first = (SELECT max(first) FROM batches)');
    db.close();
    const { length } = await withLog(dir, async (log) => log);
    expect(await verified(dir)).toMatchObject({ ok: true, unnamed: [length] });
    forgeSnapshot(dir, promote);
    expect(await withHub(dir, mayAdminister)).toBe(false);
    expect(await verified(dir)).toMatchObject({ ok: true });
  });

  test('[H21] whose entries were cut, or whose bytes do not verify, is a break', async () => {
    const dir = copy();
    const db = new DatabaseSync(pathIn(dir));
    db.exec("UPDATE snapshots SET bytes = x'00'");
    expect(await verified(dir)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('does not verify'),
    });
    db.close();
    const cut = copy();
    const rows = new DatabaseSync(pathIn(cut));
    rows.exec('DELETE FROM batches WHERE first > 5');
    rows.close();
    expect(await verified(cut)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('entries are missing'),
    });
  });
});
