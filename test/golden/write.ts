/**
 * Writes the golden log of this version, by hand: `npm run golden`. It is run again only
 * until the version is released; from then on its log is what that version wrote, and a new version
 * gets a folder of its own. Read what changed in `told.txt` before you commit it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFileLog } from '../../src/log/file.ts';
import type { Log } from '../../src/log/log.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
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

rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
const file = await write(() => openFileLog(join(dir, 'file')));
const sqlite = await write(() => openSqliteLog(join(dir, 'log.sqlite')));
if (file !== sqlite) throw new Error('the adapters tell different stories');
writeFileSync(join(dir, 'told.txt'), sqlite);
