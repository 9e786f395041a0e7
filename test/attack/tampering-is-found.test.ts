/**
 * Somebody can write the data directory: what they change is found, and what they forge is not
 * believed. Each case works on a copy of a directory that a hub has used; an untouched copy is sound.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAnchors, pinsBeside, pinsOf } from '../../src/log/anchors.ts';
import { decodeBatch, encodeBatch, GENESIS } from '../../src/log/batch.ts';
import { compactLog } from '../../src/log/compact.ts';
import { openHeadsBeside } from '../../src/log/heads.ts';
import type { Log } from '../../src/log/log.ts';
import { originOf } from '../../src/log/origin.ts';
import {
  encodeSignedHead,
  makeSigningKey,
  readSigningKey,
  type SignedHead,
  type SigningKey,
} from '../../src/log/signed-head.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { exportLog } from '../../src/log/transfer.ts';
import { type Verified, verifyLog } from '../../src/log/verify.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { ROOT } from '../tidy/repository.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-tampering-'));
const used = join(work, 'used');
const older = join(work, 'older');
const anchors = join(work, 'anchors.ndjson');
const VERIFIER = join(work, 'alone', 'synod-verify.mjs');
let observer = '';
/** The head of the whole log, as the hub signed it when it closed. */
let anchor: SignedHead;
beforeAll(async () => {
  cpSync(join(ROOT, 'bin', 'synod-verify.mjs'), VERIFIER);
  const hub = await openRunningHub({ dir: used });
  const made = await hub.admin('tokens_create', { agent_id: 'olga', kind: 'observer' });
  observer = made.token;
  for (let i = 0; i < 3; i++) await hub.ask('ada', 'send', { channel: 'work', body: { i } });
  await hub.close();
  cpSync(used, older, { recursive: true });
  const again = await openRunningHub({ dir: used });
  for (let i = 3; i < 12; i++) await again.ask('ada', 'send', { channel: 'work', body: { i } });
  await again.close();
  // What the hub signed as it closed, put where nobody of this story writes.
  copyFileSync(`${pathIn(used)}.HEADS`, anchors);
  anchor = anchorsIn(anchors).at(-1) as SignedHead;
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

function copy(from = used): string {
  const dir = mkdtempSync(join(work, 'copy-'));
  cpSync(from, dir, { recursive: true });
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
    const dir = copy(older);
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

const anchorsIn = (file: string): SignedHead[] =>
  parseAnchors(readFileSync(file, 'utf8'), file).map(({ head }) => head);

/** As `synod log verify --anchors` does. */
async function heldTo(dir: string, file = anchors, keys = [anchor.key]): Promise<Verified> {
  return withLog(dir, async (log) => {
    const found = parseAnchors(readFileSync(file, 'utf8'), file);
    const identity = { space: 'default', origin: await originOf(log) };
    return verifyLog(log, pinsOf(found, identity, new Set(keys), Date.now()));
  });
}

interface Told {
  readonly code: number | null;
  readonly said: string;
}

/** The one file, alone in a directory, with whatever is Node. */
function offline(...args: string[]): Told {
  const ran = spawnSync(process.execPath, [VERIFIER, ...args], {
    cwd: join(work, 'alone'),
    encoding: 'utf8',
  });
  return { code: ran.status, said: `${ran.stdout}${ran.stderr}` };
}

async function exported(dir: string): Promise<string> {
  const lines: string[] = [];
  await withLog(dir, (log) => exportLog(log, 0, (line) => void lines.push(line)));
  const file = join(dir, 'export.ndjson');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

/** Every stored batch written again, some with other entries, and the chain made anew over them. */
function rewrite(dir: string, change: (entry: string) => string): void {
  const db = new DatabaseSync(pathIn(dir));
  const rows = db.prepare('SELECT first, bytes FROM batches ORDER BY first').all();
  let previous = GENESIS;
  for (const { first, bytes } of rows) {
    const entries = decodeBatch(bytes as Uint8Array).map(change);
    const batch = encodeBatch(entries, previous);
    const head = Buffer.from(batch.head, 'hex');
    const update = db.prepare('UPDATE batches SET bytes = ?, head = ? WHERE first = ?');
    update.run(batch.bytes, head, first as number);
    previous = batch.head;
  }
  db.exec('DELETE FROM snapshots');
  db.close();
}

describe('with its anchor', () => {
  test('[RC3] [RC7] an untouched log holds, in place and as an export, compacted too', async () => {
    const dir = copy();
    expect(await heldTo(dir)).toMatchObject({ ok: true, length: anchor.position });
    const file = await exported(dir);
    expect(offline(file)).toEqual({ code: 0, said: expect.stringContaining('no anchor') });
    const held = offline(file, '--anchors', anchors, '--key', anchor.key);
    expect(held).toEqual({
      code: 0,
      said: expect.stringContaining(`vouches for the first ${anchor.position} entries`),
    });
    expect(offline(file, '--anchors', anchors).said).toContain(`signed by ${anchor.key}`);

    const log = await openSqliteLog(pathIn(dir));
    const drop = (entry: string): string | null =>
      entry.includes('"body":{"i":4}')
        ? `${entry.slice(0, -'"body":{"i":4}}'.length)}"dropped":true,"body":{}}`
        : null;
    const facts = await compactLog(log, drop, (said) =>
      JSON.stringify({ type: 'log.compacted', at: 1, by: 'owner', facts: said }),
    );
    expect(facts.dropped).toBe(1);
    expect(await heldTo(dir)).toMatchObject({ ok: true, compacted: { dropped: 1 } });
    const compacted = await exported(dir);
    expect(offline(compacted, '--anchors', anchors, '--key', anchor.key)).toEqual({
      code: 0,
      said: expect.stringContaining('1 bodies dropped, as the chain records'),
    });
    // Below a compaction heads are believed only as the chain records them.
    const text = readFileSync(compacted, 'utf8').replace('\\"i\\":5', '\\"i\\":6');
    writeFileSync(compacted, text);
    expect(offline(compacted)).toMatchObject({ code: 1, said: expect.stringMatching(/^BROKEN/) });
  });

  test('[RC3] [RC7] a tail that was cut is found, with the snapshots gone and the export made after', async () => {
    const dir = copy();
    const db = new DatabaseSync(pathIn(dir));
    db.exec('DELETE FROM batches WHERE first > 7; DELETE FROM snapshots');
    db.close();
    rmSync(`${pathIn(dir)}.HEADS`);
    expect(await verified(dir)).toMatchObject({ ok: true });
    const reason = `says at least ${anchor.position}`;
    expect(await heldTo(dir)).toMatchObject({
      ...{ ok: false, pinned: expect.stringMatching(/^the anchor of \d\d:\d\d$/) },
      reason: expect.stringContaining(reason),
    });
    const file = await exported(dir);
    expect(offline(file).code).toBe(0);
    expect(offline(file, '--anchors', anchors)).toEqual({
      ...{ code: 1, said: expect.stringMatching(/^BROKEN: \d+ entries, the anchor of /) },
    });
  });

  test('[RC3] [RC7] an entry that was rewritten, with the chain made anew, is found', async () => {
    const dir = copy();
    rewrite(dir, (entry) => entry.replace('{"i":4}', '{"i":40}'));
    expect(await verified(dir)).toMatchObject({ ok: true });
    expect(await heldTo(dir)).toMatchObject({
      ...{ ok: false, position: anchor.position, pinned: expect.stringContaining('the anchor of') },
      reason: expect.stringContaining('says another head'),
    });
    expect(offline(await exported(dir), '--anchors', anchors)).toEqual({
      ...{ code: 1, said: expect.stringContaining('says another head') },
    });
    // From the first entry on it is another log altogether, and no anchor is of it.
    const all = copy();
    rewrite(all, (entry) => entry.replace('{"type"', '{ "type"'));
    await expect(heldTo(all)).rejects.toThrow(/log\.anchor-other: .*all of it was replaced/);
    expect(offline(await exported(all), '--anchors', anchors)).toMatchObject({ code: 3 });
  });

  test('[RC3] [RC7] [RC4] an older copy in its place is found, by the hub too', async () => {
    const dir = copy();
    cpSync(pathIn(older), pathIn(dir));
    expect(await verified(dir)).toMatchObject({ ok: true });
    expect(await heldTo(dir)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('says at least'),
    });
    expect(offline(await exported(dir), '--anchors', anchors).code).toBe(1);
    const told = await withHub(dir, async (hub) => hub.log.join('\n'));
    expect(told).toContain(`says at least ${anchor.position}`);
  });

  test('[RC4] signed heads that were changed are told by the hub and by verify', async () => {
    const dir = copy();
    const heads = `${pathIn(dir)}.HEADS`;
    const lines = readFileSync(heads, 'utf8').split('\n');
    const last = lines.findLastIndex((line) => line !== '');
    lines[last] = encodeSignedHead({ ...anchor, position: anchor.position - 1 });
    writeFileSync(heads, lines.join('\n'));
    expect(pinsBeside(openHeadsBeside(pathIn(dir)), Date.now()).changed).toContain(
      '1 heads that were changed',
    );
    const told = await withHub(dir, async (hub) => hub.log.join('\n'));
    expect(told).toContain('does not carry the signature it says');
    // The log itself is what it was.
    expect(await heldTo(dir)).toMatchObject({ ok: true });
  });

  test('[RC3] [RC7] anchors that are no evidence have codes of their own', async () => {
    const dir = copy();
    const file = await exported(dir);
    const at = join(dir, 'anchors.ndjson');
    const key = readSigningKey(makeSigningKey()) as SigningKey;
    const cases: [string, string][] = [
      ['log.anchor-bad', `${encodeSignedHead(anchor).slice(0, -9)}\n`],
      ['log.anchor-bad', encodeSignedHead({ ...anchor, position: 3 })],
      ['log.anchor-key', encodeSignedHead(key.sign(anchor))],
    ];
    for (const [code, line] of cases) {
      writeFileSync(at, line);
      await expect(heldTo(dir, at)).rejects.toMatchObject({ code });
      const { code: exit, said } = offline(file, '--anchors', at, '--key', anchor.key, '--json');
      expect([exit, JSON.parse(said).code]).toEqual([3, code]);
    }
    writeFileSync(at, encodeSignedHead(key.sign({ ...anchor, origin: anchor.head })));
    await expect(heldTo(dir, at, [key.id])).rejects.toMatchObject({ code: 'log.anchor-other' });
    const other = offline(file, '--anchors', at, '--json');
    expect([other.code, JSON.parse(other.said).code]).toEqual([3, 'log.anchor-other']);
  });

  test('[RC7] an export that was cut or changed is found without any anchor', async () => {
    const dir = copy();
    const file = await exported(dir);
    const text = readFileSync(file, 'utf8');
    const lines = text.split('\n');
    const changes: [string, RegExp][] = [
      [`${lines.slice(0, -3).join('\n')}\n`, /entries, the export says \d+: it was cut/],
      [text.slice(0, -20), /was cut or changed/],
      [text.replace('\\"i\\":4', '\\"i\\":5'), /position \d+: this batch/],
      [lines.toSpliced(4, 1).join('\n'), /missing or out of order/],
      ['not an export\n', /does not start with the header/],
    ];
    for (const [changed, why] of changes) {
      writeFileSync(file, changed);
      expect(offline(file)).toMatchObject({ code: 1, said: expect.stringMatching(why) });
    }
    expect(offline('nothing-there').code).toBe(2);
    expect(existsSync(file)).toBe(true);
  });
});
