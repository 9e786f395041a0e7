/** The boot of a host: discovery on disk, versions, registration, freeze and what is logged. */

import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import {
  manifestOf,
  openFolder,
  openTestHost,
  verdicts,
  writeFiles,
} from '../../../plugins/host-kit.test.fixture.ts';
import { openPluginHost } from './host.ts';
import { createPluginRegistry, RegistryFrozenError } from './registry.ts';

/** A package whose code leaves a mark when it is imported and when its factory is called. */
function install(cwd: string, name: string, spec: Record<string, unknown> = {}): void {
  writeFiles(cwd, {
    [`node_modules/${name}/package.json`]: {
      name,
      type: 'module',
      sox: './sox-plugin.yaml',
      exports: { './plugin': './plugin.js' },
    },
    [`node_modules/${name}/sox-plugin.yaml`]: JSON.stringify(
      manifestOf(`io.acme.${name}`, 'interceptor', spec),
    ),
    [`node_modules/${name}/plugin.js`]: `
      const marks = (globalThis.marks ??= []);
      marks.push('${name} imported');
      export default () => {
        marks.push('${name} made');
        return (context, next) => next();
      };`,
  });
}

const marks = (): string[] => (globalThis as { marks?: string[] }).marks ?? [];

test('[P15] [P17] a package is found, loaded, logged, and in the trace of a call', async () => {
  const cwd = openFolder();
  install(cwd, 'loads');
  const { host, run, lines } = await openTestHost([], { cwd, discover: true });
  expect(host.size).toBe(1);
  expect(marks()).toEqual(expect.arrayContaining(['loads imported', 'loads made']));
  expect(verdicts((await run()).trace)).toContain('io.acme.loads continue');
  expect(lines).toContain('info plugin: id=io.acme.loads version=1.2.3 kind=interceptor');
  expect(lines.slice(-2)).toEqual([
    'info plugin registry frozen: count=1',
    'info plugin order: namespace_resolver -> auth -> io.acme.loads -> rate_limit -> ' +
      'schema_validator -> idempotency -> store_dispatch -> audit_log',
  ]);
});

test('[P15] with discovery off nothing is scanned or imported', async () => {
  const cwd = openFolder();
  install(cwd, 'unseen');
  const { host } = await openTestHost([], { cwd, discover: true, env: { SOX_NO_DISCOVERY: '1' } });
  expect(host.size).toBe(0);
  expect(marks()).not.toContain('unseen imported');
});

test.each([{}, { SOX_ENV: 'production' }])(
  '[P3] with %j an unlisted package is never imported',
  async (env) => {
    const cwd = openFolder();
    install(cwd, 'unlisted');
    install(cwd, 'listed');
    const { host, lines } = await openTestHost([], {
      cwd,
      discover: true,
      env,
      allow: ['io.acme.listed'],
    });
    expect(host.size).toBe(1);
    expect(marks()).toContain('listed imported');
    expect(marks()).not.toContain('unlisted imported');
    expect(lines[0]).toMatch(/^warn plugin_not_allowed: io\.acme\.unlisted/);
  },
);

const RECORD = {
  error_code: 'plugin_protocol_version_mismatch',
  plugin_id: 'io.acme.old',
  plugin_declares: '>=0.5,<1.0',
  host_supports: '==1.0.0',
  remediation: expect.any(String),
};

test('[P2] a plugin for another protocol version stops the start, unrun', async () => {
  const cwd = openFolder();
  install(cwd, 'old', { protocol_version: '>=0.5,<1.0' });
  const error = await openTestHost([], { cwd, discover: true }).catch((thrown) => thrown);
  expect(error.code).toBe('plugin_protocol_version_mismatch');
  expect(error.record).toEqual(RECORD);
  expect(marks()).not.toContain('old imported');
});

test('[P2] or is left out, when the operator chose so', async () => {
  const cwd = openFolder();
  install(cwd, 'old', { protocol_version: '>=0.5,<1.0' });
  const { host, run, lines } = await openTestHost([], {
    cwd,
    discover: true,
    skipMismatched: true,
  });
  expect(host.size).toBe(0);
  expect(JSON.parse(lines[0]?.replace(/^error /, '') ?? '')).toEqual(RECORD);
  expect((await run()).reply).toEqual({ ok: { stored: 1 } });
  expect(marks()).not.toContain('old imported');
});

test('[P2] a plugin that accepts every version is warned about', async () => {
  const { lines } = await openTestHost([
    { id: 'a.any', kind: 'hook', spec: { protocol_version: '*' }, make: () => () => {} },
  ]);
  expect(lines[0]).toMatch(/^warn a\.any accepts every protocol version/);
});

test('[P16] registration closes when the host opens', async () => {
  const registry = createPluginRegistry();
  const make = () => () => {};
  registry.registerPlugin('a.hook', make, manifestOf('a.hook', 'hook'));
  registry.registerPlugin(
    'b.hook',
    Object.assign(() => () => {}, { manifest: manifestOf('b.hook', 'hook') }),
  );
  const { host } = await openTestHost([], { registry });
  expect(host.size).toBe(2);
  expect(() => registry.registerPlugin('c.hook', make)).toThrow(RegistryFrozenError);
});

test.each([
  ['no manifest', undefined],
  ['the manifest of another', manifestOf('a.other', 'hook')],
])('[P16] a plugin registered with %s stops the start', async (_what, manifest) => {
  const registry = createPluginRegistry();
  registry.registerPlugin('a.hook', () => () => {}, manifest);
  await expect(openTestHost([], { registry })).rejects.toMatchObject({
    code: 'plugin_manifest_invalid',
  });
});

test('[P16] a registered plugin is on the allow-list or it does not load', async () => {
  const registry = createPluginRegistry();
  registry.registerPlugin('a.hook', () => () => {}, manifestOf('a.hook', 'hook'));
  const { host } = await openTestHost([], { registry, env: { SOX_ENV: 'production' } });
  expect(host.size).toBe(0);
});

test('[P5] two plugins with one id stop the start', async () => {
  const cwd = openFolder();
  install(cwd, 'twin');
  const registry = createPluginRegistry();
  registry.registerPlugin('io.acme.twin', () => () => {}, manifestOf('io.acme.twin', 'hook'));
  await expect(openTestHost([], { cwd, discover: true, registry })).rejects.toMatchObject({
    code: 'plugin_capability_conflict',
  });
});

test('[P19] more registered plugins than the bound stop the start', async () => {
  const plugins = Array.from({ length: 65 }, (_, i) => ({
    id: `a.p${i}`,
    kind: 'hook' as const,
    make: () => () => {},
  }));
  await expect(openTestHost(plugins)).rejects.toThrow('more than 64 plugins');
});

test('[P17] a host without plugins says so and applies to nothing', async () => {
  const lines: string[] = [];
  const host = await openPluginHost({
    builtins: [],
    cwd: tmpdir(),
    env: {},
    discover: false,
    skipMismatched: false,
    log: (_level, line) => lines.push(line),
  });
  expect(host.appliesTo('send', 'http')).toBe(false);
  expect(lines[0]).toBe('plugin registry frozen: count=0');
  await host.close();
});
