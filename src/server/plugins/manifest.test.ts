/** The manifest schema: what is accepted, and which field is named when it is not. */

import { expect, test } from 'vitest';
import { manifestOf } from '../../../plugins/host-kit.test.fixture.ts';
import { isInScope, parseManifest } from './manifest.ts';
import { PluginStartupError } from './startup-error.ts';

const parse = (manifest: unknown) => parseManifest('the-package', manifest);

function refusalOf(manifest: unknown): PluginStartupError {
  try {
    parse(manifest);
  } catch (error) {
    if (error instanceof PluginStartupError) return error;
  }
  throw new Error('the manifest was accepted');
}

test('[P1] the full manifest of the contract is accepted from YAML', () => {
  const manifest = parse(`
apiVersion: sox.dev/v1
kind: SoxPlugin
metadata: { id: io.acme.rate-limit, version: 1.0.0-rc.1+b7, display_name: R, description: d }
spec:
  protocol_version: "^1.0.0"
  plugin_kind: interceptor
  plugin_capabilities: [{ rate_limit: ">=1.0" }, { observe_only: false }, { may_short_circuit: true }]
  applies_to: { operations: [send, group_create], transports: [http] }
  requires: [io.acme.store]
  must_run_before: [store_dispatch]
  must_run_after: [auth]
  config_schema_ref: ./config.json
  signatures: [{ algorithm: ed25519, value: abc }]
`);
  expect(manifest).toMatchObject({
    id: 'io.acme.rate-limit',
    kind: 'interceptor',
    capabilities: ['rate_limit'],
    isObserveOnly: false,
    mayShortCircuit: true,
    requires: ['io.acme.store'],
    before: ['store_dispatch'],
    after: ['auth'],
  });
});

test.each([
  ['apiVersion', 'apiVersion', 'v2'],
  ['kind', 'kind', 'Plugin'],
  ['metadata.id', 'metadata.id', 'NoDots'],
  ['metadata.id', 'metadata.id', 'a.B'],
  ['metadata.version', 'metadata.version', '1.0'],
  ['metadata.display_name', 'metadata.display_name', ''],
  ['metadata.description', 'metadata.description', 'd'.repeat(513)],
  ['metadata', 'metadata.name', 'x'],
  ['<root>', 'extra', 1],
  ['spec', 'spec.observe_only', true],
  ['spec.protocol_version', 'spec.protocol_version', ''],
  ['spec.protocol_version', 'spec.protocol_version', undefined],
  ['spec.plugin_kind', 'spec.plugin_kind', 'guard'],
  ['spec.signatures', 'spec.signatures', undefined],
  ['spec.signatures.0', 'spec.signatures', [{ algorithm: 'a', value: 'b', x: 1 }]],
  ['spec.plugin_capabilities.0', 'spec.plugin_capabilities', [{ a: 'x', b: 'y' }]],
  ['spec.plugin_capabilities.0', 'spec.plugin_capabilities', [{}]],
  ['spec.plugin_capabilities.0.a', 'spec.plugin_capabilities', [{ a: true }]],
  [
    'spec.plugin_capabilities.0.observe_only',
    'spec.plugin_capabilities',
    [{ observe_only: 'yes' }],
  ],
  [
    'spec.plugin_capabilities',
    'spec.plugin_capabilities',
    [{ observe_only: true }, { may_short_circuit: true }],
  ],
  [
    'spec.plugin_capabilities',
    'spec.plugin_capabilities',
    Array.from({ length: 17 }, (_, i) => ({ [`c${i}`]: 'x' })),
  ],
  ['spec.applies_to.operations', 'spec.applies_to', { operations: [] }],
  ['spec.applies_to.operations.0', 'spec.applies_to', { operations: ['sned'] }],
  ['spec.applies_to.operations', 'spec.applies_to', { operations: ['send', 'send'] }],
  ['spec.applies_to.transports.0', 'spec.applies_to', { transports: ['ws'] }],
  ['spec.applies_to', 'spec.applies_to', { channels: ['x'] }],
  ['spec.requires', 'spec.requires', ['a', 'a']],
  ['spec.must_run_before.0', 'spec.must_run_before', [1]],
] as const)('[P1] a fault in %s is refused by name (%s = %j)', (field, path, value) => {
  const manifest = manifestOf('io.acme.x', 'interceptor');
  const keys = path.split('.');
  const last = keys.pop() as string;
  let target: Record<string, unknown> = manifest;
  for (const key of keys) target = target[key] as Record<string, unknown>;
  target[last] = value;
  const error = refusalOf(manifest);
  expect(error.code).toBe('plugin_manifest_invalid');
  expect(error.message).toContain(`the-package: ${field}: `);
});

test.each([[undefined], [null], [7], ['- a\n- b'], ['{'], ['a: *nowhere'], ['']])(
  '[P1] %j is not a manifest',
  (manifest) => {
    expect(refusalOf(manifest).record).toMatchObject({
      error_code: 'plugin_manifest_invalid',
      plugin_id: null,
    });
  },
);

test('[P19] a manifest over its bound is refused unread', () => {
  expect(refusalOf(`# ${'x'.repeat(70_000)}`).message).toContain('larger than 65536 bytes');
});

test('[P7] applies_to names operations and transports; absent means everywhere', () => {
  const scoped = parse(
    manifestOf('io.acme.x', 'hook', {
      applies_to: { operations: ['send'], transports: ['stdio'] },
    }),
  );
  expect(isInScope(scoped, 'send', 'stdio')).toBe(true);
  expect(isInScope(scoped, 'send', 'http')).toBe(false);
  expect(isInScope(scoped, 'recv', 'stdio')).toBe(false);
  const everywhere = parse(manifestOf('io.acme.x', 'hook'));
  expect(isInScope(everywhere, 'recv', 'http')).toBe(true);
});

test('[P7] applies_to as a bare list of operations is accepted', () => {
  const scoped = parse(manifestOf('io.acme.x', 'hook', { applies_to: ['send'] }));
  expect(isInScope(scoped, 'send', 'stdio')).toBe(true);
  expect(isInScope(scoped, 'recv', 'stdio')).toBe(false);
});
