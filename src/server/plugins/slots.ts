/**
 * The seven slots of the default chain, and who holds each capability.
 *
 * The order of the slots is law. A plugin that provides a slot's capability takes the slot from
 * the built-in; nobody may take what another plugin already provides, and a kind that could not
 * do a slot's work may not hold it.
 */

import type { Manifest } from './manifest.ts';
import { PluginStartupError } from './startup-error.ts';

export const SLOTS = [
  'namespace_resolver',
  'auth',
  'rate_limit',
  'schema_validator',
  'idempotency',
  'store_dispatch',
  'audit_log',
] as const;

export type Slot = (typeof SLOTS)[number];

export function isSlot(name: string): name is Slot {
  return (SLOTS as readonly string[]).includes(name);
}

/** Capability to the id of the plugin that provides it; throws on a conflict. */
export function resolveCapabilities(manifests: readonly Manifest[]): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  for (const manifest of manifests) {
    for (const capability of new Set(manifest.capabilities)) {
      const holder = holders.get(capability);
      if (holder !== undefined) {
        throw conflict(manifest.id, `${holder} and ${manifest.id} both provide ${capability}`);
      }
      refuseUnfit(manifest, capability);
      holders.set(capability, manifest.id);
    }
  }
  return holders;
}

function refuseUnfit(manifest: Manifest, capability: string): void {
  if (!isSlot(capability)) return;
  const { id, kind } = manifest;
  if (kind === 'provider' || (capability === 'store_dispatch' && kind !== 'interceptor')) {
    throw conflict(id, `${id} is a ${kind} and cannot do the work of the slot ${capability}`);
  }
  if (manifest.capabilities.filter(isSlot).length > 1) {
    throw conflict(id, `${id} claims more than one slot of the chain`);
  }
}

function conflict(pluginId: string, what: string): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_capability_conflict',
      plugin_id: pluginId,
      remediation: 'remove one of the plugins, or leave it off the allow-list',
    },
    what,
  );
}

/** Every `requires` names a plugin, a provided capability or a slot; throws otherwise. */
export function checkRequirements(
  manifests: readonly Manifest[],
  holders: ReadonlyMap<string, string>,
): void {
  const ids = new Set(manifests.map((manifest) => manifest.id));
  for (const { id, requires } of manifests) {
    const missing = requires.find((name) => !ids.has(name) && !holders.has(name) && !isSlot(name));
    if (missing !== undefined) {
      throw new PluginStartupError(
        {
          error_code: 'plugin_requirement_unmet',
          plugin_id: id,
          remediation: `install and allow a plugin that provides ${missing}`,
        },
        `${id} requires ${missing}, which nothing provides`,
      );
    }
  }
}
