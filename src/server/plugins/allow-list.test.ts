/** Who may load, and whose settings are whose. */

import { expect, test } from 'vitest';
import { applyAllowList, type Environment, readPolicy } from './allow-list.ts';
import { readConfig } from './config.ts';

const installed = ['a.one', 'a.two'].map((id) => ({ manifest: { id } }));

function load(env: Environment, allow?: readonly string[]) {
  const warnings: string[] = [];
  const policy = readPolicy(env, { allow, discover: true });
  const loaded = applyAllowList(installed, policy, (line) => warnings.push(line));
  return { loaded: loaded.map(({ manifest }) => manifest.id), warnings };
}

test('[P3] without a list all that is found loads, but nothing in production', () => {
  expect(load({})).toEqual({ loaded: ['a.one', 'a.two'], warnings: [] });
  expect(load({ SOX_ENV: 'production' }).loaded).toEqual([]);
});

test.each([{}, { SOX_ENV: 'production' }])(
  '[P3] with %j only the listed load, the others are skipped with a warning',
  (env) => {
    const { loaded, warnings } = load({ ...env, SOX_ALLOWED_PLUGINS: ' a.one ,' });
    expect(loaded).toEqual(['a.one']);
    expect(warnings).toEqual([expect.stringMatching(/^plugin_not_allowed: a\.two .*skipped/)]);
  },
);

test('[P3] an empty list loads nothing', () => {
  expect(load({}, []).loaded).toEqual([]);
  expect(load({ SOX_ENV: 'production', SOX_ALLOWED_PLUGINS: 'a.one' }, []).loaded).toEqual([]);
});

test('[P3] the option beats the variable', () => {
  const env = { SOX_ENV: 'production', SOX_ALLOWED_PLUGINS: 'a.one' };
  expect(load(env, ['a.two']).loaded).toEqual(['a.two']);
});

test('[P3] a listed plugin that is absent stops production and is a warning elsewhere', () => {
  expect(() => load({ SOX_ENV: 'production' }, ['a.gone'])).toThrow(
    expect.objectContaining({
      code: 'plugin_not_found',
      record: expect.objectContaining({ plugin_id: 'a.gone' }),
    }),
  );
  expect(load({}, ['a.gone']).warnings[0]).toMatch(/^plugin_not_found: a\.gone /);
});

test('[P15] discovery is off by option or by SOX_NO_DISCOVERY=1', () => {
  expect(readPolicy({}, { discover: true }).isDiscoveryOn).toBe(true);
  expect(readPolicy({}, { discover: false }).isDiscoveryOn).toBe(false);
  expect(readPolicy({ SOX_NO_DISCOVERY: '1' }, { discover: true }).isDiscoveryOn).toBe(false);
});

test('[P18] a plugin is given its own variables, by lower-cased key', () => {
  const env = {
    SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_SCHEMAS_DIR: '/schemas',
    SOX_PLUGIN_IO_SOX_LEVEL: 'high',
    SOX_PLUGIN_IO_SOX_SCHEMA_STRICT_: 'no key',
    SOX_PLUGIN_IO_OTHER_LEVEL: 'low',
  };
  const ids = ['io.sox', 'io.sox.schema-strict'];
  expect({ ...readConfig('io.sox.schema-strict', ids, env) }).toEqual({ schemas_dir: '/schemas' });
  expect({ ...readConfig('io.sox', ids, env) }).toEqual({ level: 'high' });
});
