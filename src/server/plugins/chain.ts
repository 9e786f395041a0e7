/**
 * From manifests to the one order of the chain, computed once at boot.
 *
 * The slots stand in their normative order, a plugin that provides a slot standing in for it.
 * What a plugin does not say is filled in on the safe side: it runs after auth and before
 * store_dispatch. Providers are no part of the chain: they start ahead of it, in an order of
 * their own.
 */

import type { Manifest } from './manifest.ts';
import { type Edge, isBefore, orderNodes } from './order.ts';
import { isSlot, SLOTS, type Slot } from './slots.ts';
import { PluginStartupError } from './startup-error.ts';

export interface Chain {
  /** Ids of the providers, each after the ones it requires. */
  readonly providers: readonly string[];
  /** Node names in order: plugin ids, and slot names where no plugin holds the slot. */
  readonly order: readonly string[];
  /** The node that stands in each slot. */
  readonly holderOf: (slot: Slot) => string;
  /** References in ordering rules that name nothing present; they order nothing. */
  readonly dangling: readonly string[];
}

export function createChain(
  manifests: readonly Manifest[],
  holders: ReadonlyMap<string, string>,
): Chain {
  const holderOf = (slot: Slot): string => holders.get(slot) ?? slot;
  const providers = manifests.filter(({ kind }) => kind === 'provider').map(({ id }) => id);
  const units = manifests.filter(({ kind }) => kind !== 'provider');
  const nodes = new Set([...SLOTS.map(holderOf), ...units.map(({ id }) => id)]);

  const dangling: string[] = [];
  const rules: Edge[] = [];
  for (const manifest of manifests) {
    for (const [first, then] of rulesOf(manifest, providers, holders)) {
      const absent = [first, then].find((name) => !nodes.has(name) && !providers.includes(name));
      if (absent === undefined) rules.push([first, then]);
      else dangling.push(`${manifest.id} names ${absent}`);
    }
  }
  // A rule between a provider and a unit says nothing new: every provider starts first.
  const amongProviders = rules.filter((edge) => edge.every((name) => providers.includes(name)));
  const stated: Edge[] = [
    ...SLOTS.slice(1).map((slot, i): Edge => [holderOf(SLOTS[i] as Slot), holderOf(slot)]),
    ...rules.filter((edge) => edge.every((name) => nodes.has(name))),
  ];
  return {
    providers: orderOrThrow(providers, amongProviders),
    order: orderOrThrow([...nodes], [...stated, ...impliedEdges(units, stated, holderOf)]),
    holderOf,
    dangling,
  };
}

/** The ordering rules of one manifest, each name resolved to the plugin that provides it. */
function rulesOf(
  { id, kind, before, after, requires }: Manifest,
  providers: readonly string[],
  holders: ReadonlyMap<string, string>,
): Edge[] {
  const resolve = (name: string): string => holders.get(name) ?? name;
  const required = kind === 'provider' ? requires.map(resolve) : [];
  return [
    ...before.map((name): Edge => [id, resolve(name)]),
    ...after.map((name): Edge => [resolve(name), id]),
    ...required.filter((name) => providers.includes(name)).map((name): Edge => [name, id]),
  ];
}

function orderOrThrow(nodes: readonly string[], edges: readonly Edge[]): readonly string[] {
  const ordered = orderNodes(nodes, edges);
  if ('cycle' in ordered) throw cycleError(ordered.cycle);
  return ordered.order;
}

/**
 * The edges nobody wrote: behind auth, ahead of the store. One is left out where the plugin has
 * said otherwise, so these alone never close a cycle; a transformer's place ahead of the store is
 * not up for discussion, because after it there is nothing left to transform.
 */
function impliedEdges(
  units: readonly Manifest[],
  stated: readonly Edge[],
  holderOf: (slot: Slot) => string,
): Edge[] {
  const auth = holderOf('auth');
  const store = holderOf('store_dispatch');
  const edges: Edge[] = [];
  for (const { id, kind, capabilities } of units) {
    if (kind === 'transformer') edges.push([id, store]);
    if (capabilities.some(isSlot)) continue;
    if (!isBefore(id, auth, stated)) edges.push([auth, id]);
    if (!isBefore(store, id, stated)) edges.push([id, store]);
  }
  return edges;
}

function cycleError(cycle: readonly string[]): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_ordering_cycle',
      plugin_id: cycle.find((node) => !isSlot(node)) ?? null,
      remediation: 'drop one of the must_run_before, must_run_after or requires rules on the way',
    },
    cycle.join(' -> '),
  );
}
