/** Discovery from real node_modules trees. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestOf, openFolder, writeFiles } from '../../../plugins/host-kit.test.fixture.ts';
import { discoverPlugins } from './discovery.ts';
import { parseManifest } from './manifest.ts';

const manifest = (id: string): string => JSON.stringify(manifestOf(id, 'hook'));
const FACTORY = 'export default function make() { return () => {}; }';

function packageFiles(name: string, id: string, more: object = {}): Record<string, unknown> {
  return {
    [`node_modules/${name}/package.json`]: {
      name,
      type: 'module',
      sox: './sox-plugin.yaml',
      exports: { './plugin': './plugin.js' },
      ...more,
    },
    [`node_modules/${name}/sox-plugin.yaml`]: manifest(id),
    [`node_modules/${name}/plugin.js`]: FACTORY,
  };
}

const idsIn = (cwd: string): string[] =>
  discoverPlugins(cwd).map(({ source, manifestText }) => parseManifest(source, manifestText).id);

test('[P15] packages with a "sox" key are found, scopes included, others are not', () => {
  const cwd = openFolder();
  writeFiles(cwd, {
    ...packageFiles('plain-plugin', 'a.plain'),
    ...packageFiles('@acme/scoped', 'a.scoped'),
    'node_modules/other/package.json': { name: 'other', keywords: ['sox'] },
    'node_modules/broken/package.json': '{"sox"',
    'node_modules/.cache/package.json': { sox: './sox-plugin.yaml' },
    'node_modules/a-file': 'not a folder',
  });
  expect(idsIn(cwd)).toEqual(['a.scoped', 'a.plain']);
});

test('[P15] without node_modules there is nothing to find', () => {
  expect(idsIn(openFolder())).toEqual([]);
});

test('[P15] a linked package is found', () => {
  const cwd = openFolder();
  const elsewhere = openFolder();
  writeFiles(elsewhere, packageFiles('linked', 'a.linked'));
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(join(elsewhere, 'node_modules', 'linked'), join(cwd, 'node_modules', 'linked'));
  expect(idsIn(cwd)).toEqual(['a.linked']);
});

test.each([
  ['a manifest that is missing', { sox: './absent.yaml' }, 'absent.yaml is missing'],
  ['a manifest outside the package', { sox: '../../../etc/hosts' }, 'leads out of the package'],
  ['a "sox" that is no path', { sox: { manifest: 'x' } }, 'must be a path'],
])('[P15] %s stops the start', (_what, more, message) => {
  const cwd = openFolder();
  writeFiles(cwd, packageFiles('bad', 'a.bad', more));
  expect(() => discoverPlugins(cwd)).toThrow(
    expect.objectContaining({
      code: 'plugin_manifest_invalid',
      message: expect.stringContaining(message),
    }),
  );
});

test('[P19] more plugins than the bound are refused', () => {
  const cwd = openFolder();
  for (let i = 0; i < 65; i += 1) writeFiles(cwd, packageFiles(`p${i}`, `a.p${i}`));
  expect(() => discoverPlugins(cwd)).toThrow('more than 64 plugins');
});

test.each([
  ['"./plugin"', { exports: { '.': './absent.js', './plugin': './plugin.js' } }],
  ['"."', { exports: { '.': { types: './x.d.ts', import: './plugin.js' } } }],
  ['a string', { exports: './plugin.js' }],
  ['conditions', { exports: { require: './x.cjs', node: { default: './plugin.js' } } }],
  ['alternatives', { exports: { '.': [{ browser: './x.js' }, './plugin.js'] } }],
  ['main', { exports: undefined, main: 'plugin.js' }],
])('[P15] the factory is the default export, entered by %s', async (_what, more) => {
  const cwd = openFolder();
  writeFiles(cwd, packageFiles('entered', 'a.entered', more));
  const [found] = discoverPlugins(cwd);
  expect((await found?.load())?.name).toBe('make');
});

test.each([
  ['exports neither', { exports: { './other': './plugin.js' } }, 'neither "./plugin" nor "."'],
  ['has an entry outside itself', { exports: './../../x.js' }, 'leads out of the package'],
  ['exports no function', { exports: './named.js' }, 'is not a factory function'],
])('[P15] a package that %s cannot be loaded', async (_what, more, message) => {
  const cwd = openFolder();
  writeFiles(cwd, {
    ...packageFiles('bad', 'a.bad', more),
    'node_modules/bad/named.js': 'export const make = 1;',
    'x.js': FACTORY,
  });
  await expect(discoverPlugins(cwd)[0]?.load()).rejects.toThrow(message);
});
