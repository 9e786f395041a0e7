/** A store of one's own: a small real package in the data directory, found, held to its shape and used. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRunningHub } from '../../../test/e2e/running-hub.ts';
import { logContract } from '../../log/log.contract.ts';
import { listPackageSpaces, openPackageLog } from './package-store.ts';
import { parseStoreUrl, shownStore, storeUrl } from './store-url.ts';

/** One JSON line a batch, under the folder its options name. */
const ADAPTER = `
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export async function listSpaces({ dir, options }) {
  const folder = join(dir, options.folder);
  return existsSync(folder) ? readdirSync(folder).map((name) => name.replace('.lines', '')) : [];
}

export async function openLog({ dir, options, space, kit }) {
  mkdirSync(join(dir, options.folder), { recursive: true });
  const path = join(dir, options.folder, space + '.lines');
  const stored = () => {
    if (!existsSync(path)) return { batches: [], snapshots: [], compacted: null };
    const lines = readFileSync(path, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
    const of = (kind) => lines.filter((line) => kind in line);
    return {
      batches: of('head').map((one) => ({ ...one, bytes: Buffer.from(one.bytes, 'base64') })),
      snapshots: of('snapshot').map((one) => Buffer.from(one.snapshot, 'base64')).reverse().slice(0, 2),
      compacted: of('compacted').at(-1)?.compacted ?? null,
    };
  };
  const line = (value) => JSON.stringify(value) + '\\n';
  const lineOf = (batch) => line({ ...batch, bytes: Buffer.from(batch.bytes).toString('base64') });
  const tail = () => {
    const last = stored().batches.at(-1);
    return last === undefined
      ? { length: 0, head: kit.GENESIS }
      : { length: last.first + last.count, head: last.head };
  };
  return kit.openBatchLog({
    path,
    tail,
    refresh: tail,
    watch: kit.lookOften,
    write(batch, previous) {
      if (tail().length !== previous.length) return false;
      appendFileSync(path, lineOf(batch), { flush: true });
      return true;
    },
    load(position, limit) {
      const { batches } = stored();
      const at = batches.findIndex((batch) => batch.first + batch.count > position);
      return at < 0 ? [] : batches.slice(at, limit === 'one' ? at + 1 : undefined);
    },
    async saveSnapshot(position, bytes) {
      appendFileSync(path, line({ snapshot: Buffer.from(bytes).toString('base64') }));
    },
    snapshots: () => stored().snapshots,
    compacted: () => stored().compacted,
    async replace(batches, compacted) {
      let text = line({ compacted });
      for await (const batch of batches) text += lineOf(batch);
      writeFileSync(path + '.new', text);
      renameSync(path + '.new', path);
    },
    close() {},
  });
}
`;

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-package-store-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function install(source: string, name = '@ada/lines', description: object = {}): void {
  const folder = join(dir, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  const about = { name, type: 'module', exports: { './store': './store.js' }, ...description };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
  writeFileSync(join(folder, 'store.js'), source);
}

const STORE = 'npm:@ada/lines?folder=kept';
const PLACE = { kind: 'package', name: '@ada/lines', query: 'folder=kept' } as const;

describe('the URL', () => {
  test('[SR1] names a package and its options, and nothing that leads out of its folder', () => {
    expect(parseStoreUrl(STORE)).toEqual(PLACE);
    expect(storeUrl(PLACE)).toBe(STORE);
    expect(storeUrl({ kind: 'package', name: 'lines', query: '' })).toBe('npm:lines');
    const bad = ['npm:', 'npm:..', 'npm:../x', 'npm:@a', 'npm:@a/../b', 'npm:/etc', 'npm:A b'];
    for (const url of bad) expect(parseStoreUrl(url)).toBeNull();
    expect(parseStoreUrl(`npm:${'a'.repeat(215)}`)).toBeNull();
  });

  test('[SR1] its options are not shown, for they may hold a password', () => {
    expect(shownStore('npm:pg?password=x')).toBe('npm:pg?(hidden)');
    expect(shownStore('sqlite:///a?b')).toBe('sqlite:///a?b');
  });
});

test('[SR1] a hub keeps its spaces in a named package and finds them again', async () => {
  install(ADAPTER);
  const open = () => openRunningHub({ dir, flags: { store: STORE } });
  const first = await open();
  await first.ask('ada', 'subscribe', { pattern: 'plan' });
  await first.ask('bob', 'send', { channel: 'plan', body: { text: 'hello' } });
  await first.ask('bob', 'send', { channel: 'plan', body: { text: 'beside' } }, 'alpha');
  await first.close();
  expect(readdirSync(join(dir, 'kept')).sort()).toEqual(['alpha.lines', 'default.lines']);
  expect(existsSync(join(dir, 'spaces'))).toBe(false);

  const again = await open();
  const { messages } = await again.ask('ada', 'recv');
  expect(messages).toMatchObject([{ body: { text: 'hello' } }]);
  const { spaces } = await again.admin('spaces_list');
  expect(spaces.map(({ name }: { name: string }) => name)).toEqual(['alpha', 'default']);
  // It could come back by itself at the next start, so it is not said to be gone.
  const owner = { authorization: `Bearer ${again.owner}` };
  const refused = await again.post('spaces_remove', { name: 'alpha' }, owner);
  expect(refused.body).toMatchObject({ error_code: 'store_unavailable' });
  expect(again.log.join()).toContain('@ada/lines keeps its spaces');
  const { channels } = await again.ask('bob', 'list_channels', {}, 'alpha');
  expect(channels).toEqual([{ name: 'plan', subscriber_count: 0 }]);
  await again.close();
});

test.each(logContract.map(({ name, run }) => [name, run] as const))('[SR1] %s', async (_, run) => {
  install(ADAPTER);
  await run(() => openPackageLog(PLACE, dir, 'default'));
});

test.each([
  ['export const listSpaces = async () => [];', 'must export the function openLog'],
  ['export const openLog = 1;', 'must export the function openLog, listSpaces'],
  ['throw new Error("no database");', 'cannot be loaded: Error: no database'],
  [
    'export async function openLog() { throw new Error("away"); } export function listSpaces() {}',
    'it failed: Error: away',
  ],
  [
    'export async function openLog() { return null; } export function listSpaces() {}',
    'it is no object',
  ],
  [
    'export async function openLog() { return { length: -1, head: "x", compacted: null, append() {} }; } export function listSpaces() {}',
    'read is no function, at is no function',
  ],
])('[SR2] a package that is no store is refused with what is wrong: %s', async (source, why) => {
  install(source);
  const failed = openPackageLog(PLACE, dir, 'default');
  await expect(failed).rejects.toMatchObject({ code: 'log.unavailable' });
  await expect(failed).rejects.toThrow(why);
});

test('[SR2] a package that is not installed is refused with how to install it', async () => {
  const failed = openPackageLog(PLACE, dir, 'default');
  await expect(failed).rejects.toThrow(`npm install --prefix ${dir} @ada/lines`);
});

test('[SR2] names of spaces that are none are refused', async () => {
  install('export function openLog() {} export async function listSpaces() { return ["../x"]; }');
  await expect(listPackageSpaces(PLACE, dir)).rejects.toThrow('listSpaces must answer');
});

test('[SR1] a package of the folder one stands in is not looked at', async () => {
  install(ADAPTER);
  // The data directory lies in the project that holds the package.
  const hub = openRunningHub({ dir: join(dir, 'hub'), flags: { store: STORE } });
  await expect(hub).rejects.toThrow(`is not in ${join(dir, 'hub', 'node_modules')}`);
});
