/** A log that breaks, on copies of a directory that a hub has used: what the hub goes on with, and what it keeps. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileLog } from '../../src/log/file.ts';
import type { Log } from '../../src/log/log.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { verifyLog } from '../../src/log/verify.ts';
import { openHome } from './cli-run.ts';
import { within } from './deadline.ts';
import { type HubOptions, type Json, openRunningHub, type RunningHub } from './running-hub.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-broken-'));
const used = join(work, 'used');
afterAll(() => rmSync(work, { recursive: true, force: true }));

const sqliteIn = (dir: string): string => join(dir, 'spaces', 'default.sqlite');
const segmentIn = (dir: string): string => join(dir, 'log', '0000000000000000.segment');
const inFiles = (dir: string): HubOptions => ({
  dir,
  flags: { store: `file://${join(dir, 'log')}` },
});

beforeAll(async () => {
  for (const options of [{ dir: used }, inFiles(`${used}-files`)]) {
    const hub = await openRunningHub(options);
    await hub.ask('bob', 'subscribe', { pattern: 'work' });
    for (let i = 0; i < 6; i++) await hub.ask('ada', 'send', { channel: 'work', body: { i } });
    await hub.close();
  }
});

function copy(from = used): string {
  const dir = mkdtempSync(join(work, 'copy-'));
  cpSync(from, dir, { recursive: true });
  return dir;
}

async function withHub<T>(options: HubOptions, use: (hub: RunningHub) => Promise<T>): Promise<T> {
  const hub = await openRunningHub(options);
  try {
    return await use(hub);
  } finally {
    await hub.close();
  }
}

/** The message that holds `{"i":n}`, with a byte of it changed; the snapshots would spare a hub from meeting it. */
function spoil(dir: string, n: number): number {
  const db = new DatabaseSync(sqliteIn(dir));
  const rows = db.prepare('SELECT first, bytes FROM batches ORDER BY first').all();
  const row = rows.find(({ bytes }) => Buffer.from(bytes as Uint8Array).includes(`{"i":${n}}`));
  const changed = Buffer.from(row?.bytes as Uint8Array);
  changed.write(`{"i":9}`, changed.indexOf(`{"i":${n}}`));
  db.prepare('UPDATE batches SET bytes = ? WHERE first = ?').run(changed, row?.first as number);
  db.exec('DELETE FROM snapshots');
  db.close();
  return row?.first as number;
}

async function said(hub: RunningHub): Promise<number[]> {
  const { messages } = await hub.ask('bob', 'replay', { channel: 'work', since: 0, limit: 50 });
  return messages.map(({ body }: Json) => body.i);
}

const alerts = async (hub: RunningHub): Promise<Json[]> =>
  (await hub.admin('docket_list', { kind: 'alert' })).items;

async function entryAt(log: Log, position: number): Promise<Json> {
  const [entry = ''] = await log.at([position]);
  await log.close();
  return JSON.parse(entry);
}

describe('a real break', () => {
  test('[RC8] is one item for a person: what was sound goes on, the rest is kept, and nothing is cut', async () => {
    const dir = copy();
    const through = spoil(dir, 3);
    const before = readFileSync(sqliteIn(dir));
    const first = await withHub({ dir }, async (hub) => {
      expect(await said(hub)).toEqual([0, 1, 2]);
      const { trouble } = await hub.admin('status');
      expect(trouble).toMatch(new RegExp(`sound up to position ${through}: .*kept in default`));
      const items = await alerts(hub);
      expect(items).toMatchObject([{ count: 1, text: trouble }]);
      const home = openHome();
      const env = { SYNOD_DIR: dir };
      const told = await home.run(['status'], { env });
      expect([told.code, told.stdout]).toEqual([
        0,
        expect.stringMatching(/^running .*[\s\S]*^record +BROKEN: .*sound up to position \d/m),
      ]);
      expect(told.stdout).toContain(trouble);
      expect(await home.json(['status'], { env })).toMatchObject({ running: true, trouble });
      await home.close();
      // It is a hub like any other.
      await hub.ask('ada', 'send', { channel: 'work', body: { i: 10 } });
      expect(hub.log.filter((line) => line.includes('sound up to position'))).toHaveLength(1);
      return items[0];
    });
    const [kept = ''] = readdirSync(join(dir, 'spaces')).filter((name) => /BROKEN-\d+$/.test(name));
    expect(readFileSync(join(dir, 'spaces', kept))).toEqual(before);
    const log = await openSqliteLog(sqliteIn(dir));
    expect(await verifyLog(log)).toMatchObject({ ok: true });
    const broken = await openSqliteLog(join(dir, 'spaces', kept), { readOnly: true });
    let head = '';
    for await (const batch of broken.batches(0)) if (batch.first < through) ({ head } = batch);
    await broken.close();
    expect(await entryAt(log, through)).toMatchObject({
      ...{ type: 'log.broken', through, head, file: basename(kept) },
    });
    // Once: the next start finds a whole log, and the item still waits.
    await withHub({ dir }, async (hub) => {
      expect(await alerts(hub)).toEqual([first]);
      await hub.admin('docket_close', { item_id: first.item_id, outcome: 'done' });
      expect((await hub.admin('status')).trouble).toBe(null);
      const home = openHome();
      expect((await home.run(['status'], { env: { SYNOD_DIR: dir } })).stdout).not.toMatch(
        /BROKEN/,
      );
      await home.close();
      expect(hub.log.filter((line) => line.startsWith('error'))).toEqual([]);
    });
  });

  test('[RC8] in a log of files is mended the same way', async () => {
    const dir = copy(`${used}-files`);
    for (const name of readdirSync(join(dir, 'log'))) {
      if (name.endsWith('.snapshot')) rmSync(join(dir, 'log', name));
    }
    const bytes = readFileSync(segmentIn(dir));
    bytes.write('{"i":9}', bytes.indexOf('{"i":4}'));
    writeFileSync(segmentIn(dir), bytes);
    await withHub(inFiles(dir), async (hub) => {
      expect(await said(hub)).toEqual([0, 1, 2, 3]);
      expect(await alerts(hub)).toHaveLength(1);
    });
    const [kept = ''] = readdirSync(dir).filter((name) => /^log\.BROKEN-\d+$/.test(name));
    expect(readFileSync(join(dir, kept, basename(segmentIn(dir))))).toEqual(bytes);
    const log = await openFileLog(join(dir, 'log'), { readOnly: true });
    expect(await verifyLog(log)).toMatchObject({ ok: true });
    await log.close();
  });

  test('[RC8] that the hub finds as it runs is told, and it goes on: what it knows is what was acknowledged', async () => {
    const dir = copy();
    const db = new DatabaseSync(sqliteIn(dir));
    db.exec('UPDATE batches SET head = zeroblob(32) WHERE first = 2');
    db.close();
    const told = (): Promise<Json[]> =>
      withHub({ dir, hooks: { verifyAfterMs: 1 } }, async (hub) => {
        const walked = async (): Promise<void> => {
          while ((await hub.admin('record_head')).verified === null);
          while ((await hub.admin('status')).trouble === null);
        };
        await within('the break is found', walked());
        expect(await said(hub)).toEqual([0, 1, 2, 3, 4, 5]);
        return alerts(hub);
      });
    const [item] = await told();
    expect(item).toMatchObject({ count: 1, text: expect.stringContaining('synod log verify') });
    expect(await told()).toEqual([item]);
    expect(readdirSync(join(dir, 'spaces')).filter((name) => name.includes('BROKEN'))).toEqual([]);
  });

  test('[RC8] mended while the machine goes down is finished by the next start', async () => {
    const dir = copy();
    renameSync(sqliteIn(dir), `${sqliteIn(dir)}.MENDED`);
    await withHub({ dir }, async (hub) => {
      expect(await said(hub)).toEqual([0, 1, 2, 3, 4, 5]);
    });
  });
});

test('[G7] [RC8] a torn tail is no break: it is cut, and nobody is told', async () => {
  const dir = copy(`${used}-files`);
  const { length } = readFileSync(segmentIn(dir));
  truncateSync(segmentIn(dir), length - 5);
  rmSync(join(dir, 'log.HEADS'));
  for (const name of readdirSync(join(dir, 'log'))) {
    if (name.endsWith('.snapshot')) rmSync(join(dir, 'log', name));
  }
  await withHub(inFiles(dir), async (hub) => {
    expect(await said(hub)).toEqual([0, 1, 2, 3, 4, 5]);
    expect([await alerts(hub), (await hub.admin('status')).trouble]).toEqual([[], null]);
  });
});
