import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../log/log.ts';
import { logUrlOf, openLog, spacesOnDisk } from './open-log.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-open-log-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

test.each([
  ['the data directory', () => null],
  ['a sqlite URL', () => `sqlite://${dir}/a.b/log.sqlite`],
  ['a sqlite URL without a suffix', () => `sqlite://${dir}/log`],
  ['a file URL', () => `file://${dir}/log`],
])('[SP2] a space that was made is found again after a restart: %s', async (_, storeOf) => {
  const store = storeOf();
  const open: Log[] = [];
  for (const space of ['default', 'alpha', 'b-2']) {
    const log = await openLog(logUrlOf(store, dir, space));
    await log.append(0, [space]);
    open.push(log);
  }
  // As a hub that was killed leaves them, with what SQLite keeps beside each.
  expect((await spacesOnDisk(store, dir)).filter((name) => name !== 'default').sort()).toEqual([
    'alpha',
    'b-2',
  ]);
  for (const log of open) await log.close();
  const again = await openLog(logUrlOf(store, dir, 'alpha'));
  expect(await again.at([0])).toEqual(['alpha']);
  await again.close();
});
