/**
 * The plugin host: from installed packages to a frozen chain, and calls through it.
 *
 * The boot steps are the contract's, in its order: manifests, versions, allow-list, capability
 * conflicts, requirements, ordering, instances with their start-up, freeze. Any failure closes
 * what was opened and throws a PluginStartupError; a hub never runs with half its plugins.
 */

import { applyAllowList, type Environment, readPolicy } from './allow-list.ts';
import { readCandidates } from './candidates.ts';
import { type Chain, createChain } from './chain.ts';
import type { CallContext } from './context.ts';
import { openInstances } from './instances.ts';
import { PLUGINS_MAX, UNIT_TIMEOUT_MS } from './limits.ts';
import { isInScope, type Transport } from './manifest.ts';
import type { HookFailureMode, PluginUnit, Rules } from './passage.ts';
import { type Builtin, type Dispatch, type Link, runPipeline } from './pipeline.ts';
import type { PluginLog, PluginRegistry } from './registry.ts';
import type { Reply } from './reply.ts';
import { checkRequirements, isSlot, resolveCapabilities, SLOTS, type Slot } from './slots.ts';
import { PluginStartupError } from './startup-error.ts';
import type { TraceEntry } from './trace.ts';

export interface PluginHostOptions {
  readonly builtins: readonly Builtin[];
  /** Where `node_modules` is looked for. */
  readonly cwd: string;
  readonly env: Environment;
  /** `--allow-plugins`; beats SOX_ALLOWED_PLUGINS. */
  readonly allow?: readonly string[] | undefined;
  /** False for `--no-discovery`; SOX_NO_DISCOVERY=1 has the same effect. */
  readonly discover: boolean;
  /** Leave out a plugin made for another protocol version instead of refusing to start. */
  readonly skipMismatched: boolean;
  readonly registry?: PluginRegistry | undefined;
  readonly unitTimeoutMs?: number;
  readonly log: PluginLog;
}

export interface PluginHost {
  /** How many plugins were loaded. */
  readonly size: number;
  /** The units of the request path in order, slots without a plugin by their own name. */
  readonly order: readonly string[];
  /** One entry for each provider that was started. */
  readonly startup: readonly TraceEntry[];
  /** When false no plugin would see such a call, and the caller may take its own short way. */
  appliesTo(operation: string, transport: Transport): boolean;
  run(
    call: CallContext,
    dispatch: Dispatch,
  ): Promise<{ readonly reply: Reply; readonly trace: readonly TraceEntry[] }>;
  counters(): Readonly<Record<'sox.hook.failure_count', number>>;
  close(): Promise<void>;
}

export async function openPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const { env, log } = options;
  const policy = readPolicy(env, options);
  const hookFailureMode = readHookFailureMode(env);
  const { found, usable } = readCandidates(options, policy.isDiscoveryOn);
  const plugins = applyAllowList(usable, policy, (line) => log('warn', line));
  if (plugins.length > PLUGINS_MAX) throw startFailure(`more than ${PLUGINS_MAX} plugins`);
  const manifests = plugins.map(({ manifest }) => manifest);
  const holders = resolveCapabilities(manifests);
  checkRequirements(manifests, holders);
  const chain = createChain(manifests, holders);
  for (const line of chain.dangling) log('warn', `plugin order: ${line}, which is not here`);

  const instances = await openInstances(
    [...chain.providers, ...chain.order],
    plugins,
    holders,
    options,
  );
  const links = createLinks(chain, instances.units, options.builtins);
  const order = links.map(({ name }) => name);
  // Where no plugin was found there is nothing to say about them.
  const level = found === 0 ? 'debug' : 'info';
  for (const { manifest } of plugins) {
    log(level, `plugin: id=${manifest.id} version=${manifest.version} kind=${manifest.kind}`);
  }
  log(level, `plugin registry frozen: count=${plugins.length}`);
  log(level, `plugin order: ${order.join(' -> ')}`);

  let hookFailures = 0;
  const rules: Rules = {
    unitTimeoutMs: options.unitTimeoutMs ?? UNIT_TIMEOUT_MS,
    hookFailureMode,
    log,
    countHookFailure: () => {
      hookFailures += 1;
    },
  };
  return {
    size: plugins.length,
    order,
    startup: instances.startup,
    appliesTo: (operation, transport) =>
      instances.units.some(({ manifest }) => isInScope(manifest, operation, transport)),
    run: (call, dispatch) => runPipeline(links, rules, call, dispatch),
    counters: () => ({ 'sox.hook.failure_count': hookFailures }),
    close: instances.close,
  };
}

function createLinks(
  chain: Chain,
  units: readonly PluginUnit[],
  builtins: readonly Builtin[],
): readonly (Link & { readonly name: string })[] {
  const slotOf = new Map<string, Slot>(SLOTS.map((slot) => [chain.holderOf(slot), slot]));
  return chain.order.map((name) => ({
    name,
    plugin: isSlot(name) ? null : (units.find(({ manifest }) => manifest.id === name) ?? null),
    builtin: builtins.find(({ capability }) => capability === slotOf.get(name)) ?? null,
    isStore: slotOf.get(name) === 'store_dispatch',
  }));
}

function readHookFailureMode(env: Environment): HookFailureMode {
  const mode = env.SOX_HOOK_FAILURE_MODE || 'alarm';
  if (mode === 'swallow' || mode === 'alarm' || mode === 'raise') return mode;
  throw startFailure(`SOX_HOOK_FAILURE_MODE is ${mode}; it must be swallow, alarm or raise`);
}

function startFailure(what: string): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_startup_failed',
      plugin_id: null,
      remediation: 'correct the setting and start again',
    },
    what,
  );
}
