/**
 * Plugins brought to life, providers first, and providers put to rest in reverse.
 *
 * A provider's factory is called once, then its resource's `on_startup` once; the units of the
 * chain are made after that. On close, or when a later plugin fails to start, `on_shutdown` is called
 * once on each resource that was started; a failure there is logged and stops nothing.
 */

import type { Environment } from './allow-list.ts';
import type { Candidate } from './candidates.ts';
import { readConfig } from './config.ts';
import { SHUTDOWN_TIMEOUT_MS, STARTUP_TIMEOUT_MS, withDeadline } from './limits.ts';
import type { Manifest } from './manifest.ts';
import type { PluginUnit } from './passage.ts';
import type { FactoryOptions, PluginLog } from './registry.ts';
import { isSlot } from './slots.ts';
import { PluginStartupError } from './startup-error.ts';
import { finishEntry, startEntry, type TraceEntry } from './trace.ts';

/** What `on_startup` and `on_shutdown` are given: the same as the factory was. */
type ServerContext = FactoryOptions;

interface Started {
  readonly id: string;
  readonly resource: unknown;
  readonly context: ServerContext;
}

export interface Instances {
  readonly units: readonly PluginUnit[];
  readonly startup: readonly TraceEntry[];
  close(): Promise<void>;
}

interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
  readonly log: PluginLog;
}

export async function openInstances(
  order: readonly string[],
  plugins: readonly Candidate[],
  holders: ReadonlyMap<string, string>,
  { cwd, env, log }: Surroundings,
): Promise<Instances> {
  const ids = plugins.map(({ manifest }) => manifest.id);
  const units: PluginUnit[] = [];
  const startup: TraceEntry[] = [];
  const started: Started[] = [];
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= shutDown(started, log);
    return closing;
  };

  for (const name of order) {
    const plugin = plugins.find(({ manifest }) => manifest.id === name);
    if (plugin === undefined) continue;
    const { manifest } = plugin;
    const context: ServerContext = Object.freeze({
      config: readConfig(manifest.id, ids, env),
      resources: resourcesFor(manifest, holders, started),
      cwd,
      log,
    });
    try {
      const made = await withDeadline(
        async () => (await plugin.load())(context),
        STARTUP_TIMEOUT_MS,
        `the factory of ${manifest.id}`,
      );
      if (manifest.kind === 'provider') {
        startup.push(await startProvider({ id: manifest.id, resource: made, context }));
        started.push({ id: manifest.id, resource: made, context });
      } else {
        units.push(createUnit(manifest, made, context.resources));
      }
    } catch (cause) {
      await close();
      throw startFailure(manifest.id, cause);
    }
  }
  return { units, startup, close };
}

function createUnit(
  manifest: Manifest,
  made: unknown,
  resources: Readonly<Record<string, unknown>>,
): PluginUnit {
  if (typeof made !== 'function') {
    throw new Error(`the factory of a ${manifest.kind} must return a function`);
  }
  return {
    manifest,
    slot: manifest.capabilities.find(isSlot) ?? null,
    resources,
    run: made as PluginUnit['run'],
  };
}

/** Keyed by the name in `requires`, so that a plugin finds a resource by what it asked for. */
function resourcesFor(
  manifest: Manifest,
  holders: ReadonlyMap<string, string>,
  started: readonly Started[],
): Readonly<Record<string, unknown>> {
  const resources: Record<string, unknown> = Object.create(null);
  for (const name of manifest.requires) {
    const id = holders.get(name) ?? name;
    const provider = started.find((each) => each.id === id);
    if (provider !== undefined) resources[name] = provider.resource;
  }
  return Object.freeze(resources);
}

async function startProvider({ id, resource, context }: Started): Promise<TraceEntry> {
  const entry = startEntry(id, 'provider', 'startup');
  await callIfPresent(resource, 'on_startup', context, STARTUP_TIMEOUT_MS, id);
  finishEntry(entry, 'continue');
  return entry;
}

async function shutDown(started: readonly Started[], log: Surroundings['log']): Promise<void> {
  for (const { id, resource, context } of started.toReversed()) {
    try {
      await callIfPresent(resource, 'on_shutdown', context, SHUTDOWN_TIMEOUT_MS, id);
    } catch (cause) {
      log('error', `plugin shutdown failed: id=${id}`, cause);
    }
  }
}

async function callIfPresent(
  resource: unknown,
  name: 'on_startup' | 'on_shutdown',
  context: ServerContext,
  timeoutMs: number,
  id: string,
): Promise<void> {
  const step = (resource as Record<string, unknown> | null | undefined)?.[name];
  if (typeof step !== 'function') return;
  await withDeadline(() => step.call(resource, context), timeoutMs, `${name} of ${id}`);
}

function startFailure(id: string, cause: unknown): PluginStartupError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new PluginStartupError(
    {
      error_code: 'plugin_startup_failed',
      plugin_id: id,
      remediation: `see the cause, then correct the configuration of ${id} or remove it`,
    },
    `${id}: ${why}`,
    { cause },
  );
}
