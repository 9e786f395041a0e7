/**
 * Plugins registered by the program that embeds the hub.
 *
 * Registration is open until the host takes the list; from then on it throws RegistryFrozenError,
 * because the order of the chain is computed once, at boot. A registered plugin is held to the
 * same manifest, version and allow-list rules as a discovered one.
 */

/** Makes one unit or resource; what it returns depends on the kind in the manifest. */
export type PluginFactory = (options: FactoryOptions) => unknown;

export interface FactoryOptions {
  /** The plugin's `SOX_PLUGIN_<ID>_<KEY>` variables, keyed by the lower-cased KEY. */
  readonly config: Readonly<Record<string, string>>;
  /** Resources of the providers this plugin `requires`, keyed by the required name. */
  readonly resources: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  readonly log: PluginLog;
}

export type PluginLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  line: string,
  cause?: unknown,
) => void;

export interface Registration {
  readonly name: string;
  readonly factory: PluginFactory;
  /** The manifest as an object or as YAML text; without it, `factory.manifest` must hold one. */
  readonly manifest: unknown;
}

export class RegistryFrozenError extends Error {
  override readonly name = 'RegistryFrozenError';
  readonly code = 'registry_frozen';
}

export interface PluginRegistry {
  registerPlugin(name: string, factory: PluginFactory, manifest?: unknown): void;
  /** Hands over what was registered and closes the door. */
  freeze(): readonly Registration[];
}

export function createPluginRegistry(): PluginRegistry {
  const registrations: Registration[] = [];
  let isFrozen = false;
  return {
    registerPlugin(name, factory, manifest) {
      if (isFrozen) {
        throw new RegistryFrozenError(
          `${name} was registered after the plugin registry was frozen; register before the hub opens`,
        );
      }
      const own = (factory as { manifest?: unknown }).manifest;
      registrations.push({ name, factory, manifest: manifest ?? own });
    },
    freeze() {
      isFrozen = true;
      return registrations;
    },
  };
}
