/**
 * Golden logs: what earlier versions wrote, opened by the program as it is today. Each folder is one
 * version: a log and a snapshot as each adapter stores them, and `told.txt`, what a hub tells of them.
 * v0 was written by the first hub of this repository (its snapshots are of version 1), v1 by this
 * version, with `write.ts`. Every test works on a copy.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { decodeEvent } from '../../src/core/law/entry.ts';
import { DURABLE_KINDS } from '../../src/core/law/shape.ts';
import { thawWorld } from '../../src/core/law/snapshot.ts';
import { createWorld } from '../../src/core/law/state.ts';
import { evolve } from '../../src/core/law/world.ts';
import { openFileLog } from '../../src/log/file.ts';
import type { Log } from '../../src/log/log.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { verifyLog } from '../../src/log/verify.ts';
import { portray } from '../../src/testing/compare.ts';
import { createClock, openStage } from './stage.ts';
import { tellAll } from './tell.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-golden-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const VERSIONS = ['v0', 'v1'];
const NEWEST = VERSIONS.at(-1) ?? '';

interface Adapter {
  readonly name: string;
  /** Within the folder of the version. */
  readonly path: string;
  open(path: string): Promise<Log>;
  dropSnapshots(path: string): void;
}

const ADAPTERS: readonly Adapter[] = [
  {
    name: 'sqlite',
    path: 'log.sqlite',
    open: (path) => openSqliteLog(path),
    dropSnapshots(path) {
      const db = new DatabaseSync(path);
      db.exec('DELETE FROM snapshots');
      db.close();
    },
  },
  {
    name: 'file',
    path: 'file',
    open: (path) => openFileLog(path),
    dropSnapshots(path) {
      for (const name of readdirSync(path)) {
        if (name.endsWith('.snapshot')) rmSync(join(path, name));
      }
    },
  },
];

/** A copy of a golden log, and the bytes of all its files. */
function copyOf(version: string, { path }: Adapter): { path: string; bytes(): Buffer[] } {
  const dir = mkdtempSync(join(work, 'copy-'));
  cpSync(join(import.meta.dirname, version, path), join(dir, path), { recursive: true });
  const bytes = (): Buffer[] =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .sort()
      .map((file) => readFileSync(file));
  return { path: join(dir, path), bytes };
}

function toldBy(version: string): string {
  return readFileSync(join(import.meta.dirname, version, 'told.txt'), 'utf8');
}

async function batchesOf(log: Log): Promise<string[]> {
  const batches: string[] = [];
  for await (const { first, count, bytes, head } of log.batches(0)) {
    batches.push(`${first} ${count} ${Buffer.from(bytes).toString('base64')} ${head}`);
  }
  return batches;
}

async function entriesOf(log: Log): Promise<string[]> {
  const entries: string[] = [];
  for await (const chunk of log.read(0)) entries.push(...chunk.entries);
  return entries;
}

const cases = VERSIONS.flatMap((version) => ADAPTERS.map((adapter) => ({ version, adapter })));

describe.each(cases)('a log of $version over $adapter.name', ({ version, adapter }) => {
  test.each(['with its snapshot', 'without it'])(
    '[L6] verifies, and is told as it was told then, %s, and opening changes no byte',
    async (how) => {
      const { path, bytes } = copyOf(version, adapter);
      if (how === 'without it') adapter.dropSnapshots(path);
      const before = bytes();
      const log = await adapter.open(path);
      expect(await verifyLog(log)).toMatchObject({ ok: true });
      // A clock from before the story: the hub stands where the log ended.
      const stage = await openStage(log, createClock(0));
      expect(await tellAll(stage)).toBe(toldBy(version));
      // From before snapshots were named: it is told that this one is not believed.
      const isDoubted = how === 'with its snapshot' && version === 'v0';
      expect(stage.troubles).toEqual(isDoubted ? [expect.stringContaining('does not name')] : []);
      await log.close();
      expect(bytes()).toEqual(before);
    },
  );

  test('[L6] is appended to, and what was there stays as it was', async () => {
    const { path } = copyOf(version, adapter);
    const log = await adapter.open(path);
    const before = await batchesOf(log);
    const stage = await openStage(log, createClock(0));
    await stage.play(['> ada message.send jobs/build {"since":"then"}']);
    const told = (await tellAll(stage)).replace(/^log: .*\n/, '');
    await stage.close();
    const again = await adapter.open(path);
    const after = await batchesOf(again);
    expect(after.slice(0, before.length)).toEqual(before);
    // The message, and the name of the snapshot that closing took.
    expect(after.length).toBe(before.length + 2);
    expect(await tellAll(await openStage(again, createClock(0)))).toContain(told);
    await again.close();
  });

  test('[L3] its snapshot is used when it is of this version, and ignored when not', async () => {
    const { path } = copyOf(version, adapter);
    const log = await adapter.open(path);
    const snapshot = await log.loadSnapshot();
    expect(snapshot?.position).toBeLessThan(log.length);
    // Not so for the newest version: the frozen world has changed, so write the golden log anew.
    expect(thawWorld(snapshot?.text ?? '') !== null).toBe(version === NEWEST);
    await log.close();
  });
});

test.each(ADAPTERS)(
  '[L3] what $name stored as a snapshot is the world of the entries before it',
  async (adapter) => {
    const log = await adapter.open(copyOf(NEWEST, adapter).path);
    const snapshot = await log.loadSnapshot();
    const before = (await entriesOf(log)).slice(0, snapshot?.position);
    await log.close();
    const replayed = createWorld();
    for (const [position, entry] of before.entries())
      evolve(replayed, decodeEvent(entry), position);
    const thawed = thawWorld(snapshot?.text ?? '') ?? createWorld();
    expect(portray(thawed, 'durable')).toEqual(portray(replayed, 'durable'));
  },
);

test('[L6] the newest golden log holds every kind of event there is', async () => {
  const [adapter] = ADAPTERS as [Adapter];
  const log = await adapter.open(copyOf(NEWEST, adapter).path);
  const kinds = new Set((await entriesOf(log)).map((entry) => decodeEvent(entry).type));
  await log.close();
  // One is missing: tell it in `talk.txt`, `work.txt` or `gates.txt`, then run `write.ts`.
  expect([...kinds].sort()).toEqual([...DURABLE_KINDS].sort());
});
