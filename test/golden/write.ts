/**
 * Writes the golden log of this version, by hand: `npm run golden`. It is run again only
 * until the version is released; from then on its log is what that version wrote, and a new version
 * gets a folder of its own. Read what changed in `told.txt` before you commit it.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DAY_MS } from '../../src/core/law/limits.ts';
import { openFileLog } from '../../src/log/file.ts';
import type { Log } from '../../src/log/log.ts';
import { encodeSignedHead, readSigningKey } from '../../src/log/signed-head.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { exportLog } from '../../src/log/transfer.ts';
import { compactSpace } from '../../src/server/run/compact.ts';
import { START } from '../traces/play.ts';
import { createClock, openStage } from './stage.ts';
import { tellAll } from './tell.ts';

const VERSION = 'v1';
const dir = join(import.meta.dirname, VERSION);

/** The story as its hubs: each is closed before the next, but for the last, which is there no more. */
const acts = ['talk.txt', 'work.txt', 'gates.txt']
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
  .join('')
  .split('> restart\n');

async function write(open: () => Promise<Log>): Promise<string> {
  const clock = createClock(START);
  for (const act of acts.slice(0, -1)) {
    const stage = await openStage(await open(), clock);
    await stage.play(act.split('\n'));
    await stage.close();
  }
  const log = await open();
  const stage = await openStage(log, clock);
  await stage.play((acts.at(-1) ?? '').split('\n'));
  const told = await tellAll(stage);
  // Not through the hub: what came after the snapshot must be read from the log.
  await log.close();
  return told;
}

/** The same log after a compaction that drops what it may, a year later; what a hub tells of that. */
async function compact(kind: 'sqlite' | 'file', from: string, to: string): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'synod-golden-'));
  try {
    const path = join(place, basename(to));
    cpSync(join(dir, from), path, { recursive: true });
    const drop = { olderThanMs: 0, isDryRun: false, by: 'owner', at: START + DAY_MS };
    const { dropped } = await compactSpace(`${kind}://${path}`, drop);
    if (dropped === 0) throw new Error('nothing was dropped, so nothing is shown');
    cpSync(path, join(dir, to), { recursive: true });
    const log = await (kind === 'sqlite' ? openSqliteLog(path) : openFileLog(path));
    const told = await tellAll(await openStage(log, createClock(0)));
    await log.close();
    return told;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function exported(): Promise<string> {
  const log = await openSqliteLog(join(dir, 'log.sqlite'));
  const lines: string[] = [];
  await exportLog(log, 0, async (line) => void lines.push(`${line}\n`));
  await log.close();
  return lines.join('');
}

/** Signed heads of the log, in its middle and at its end, under a key that is nobody's secret. */
async function signed(): Promise<string> {
  const seed = Buffer.alloc(32, 'golden');
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const key = readSigningKey(
    `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`,
  );
  const log = await openSqliteLog(join(dir, 'log.sqlite'));
  const ends: { position: number; head: string }[] = [];
  for await (const { first, count, head } of log.batches(0)) {
    ends.push({ position: first + count, head });
  }
  await log.close();
  const at = new Date(START).toISOString();
  const origin = ends[0]?.head ?? '';
  return [ends[Math.floor(ends.length / 2)], ends.at(-1)]
    .flatMap((end) => (end && key ? key.sign({ space: 'golden', origin, ...end, at }) : []))
    .map((head) => `${encodeSignedHead(head)}\n`)
    .join('');
}

rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
const file = await write(() => openFileLog(join(dir, 'file')));
const sqlite = await write(() => openSqliteLog(join(dir, 'log.sqlite')));
if (file !== sqlite) throw new Error('the adapters tell different stories');
writeFileSync(join(dir, 'told.txt'), sqlite);
writeFileSync(join(dir, 'export.ndjson'), await exported());
writeFileSync(join(dir, 'anchors.ndjson'), await signed());
const compacted = await compact('sqlite', 'log.sqlite', 'compacted.sqlite');
if (compacted !== (await compact('file', 'file', 'compacted'))) {
  throw new Error('the adapters tell different stories of a compacted log');
}
writeFileSync(join(dir, 'told-compacted.txt'), compacted);
