/**
 * The plugins that could load: found and registered ones whose manifest holds and whose protocol
 * range admits this host.
 *
 * The version is judged before anything of the plugin runs. A mismatch is told with the
 * contract's five-field record and stops the start, unless the operator chose to go on without.
 */

import { discoverPlugins } from './discovery.ts';
import { type Manifest, parseManifest } from './manifest.ts';
import type { PluginFactory, PluginLog, PluginRegistry } from './registry.ts';
import { PluginStartupError } from './startup-error.ts';
import { parseVersion, type Version } from './version.ts';

export const HOST_PROTOCOL_VERSION = '1.0.0';
export const HOST_PROTOCOL_VERSION_RANGE = '==1.0.0';

export interface Candidate {
  readonly manifest: Manifest;
  load(): Promise<PluginFactory>;
}

interface Sources {
  readonly cwd: string;
  readonly registry?: PluginRegistry | undefined;
  readonly skipMismatched: boolean;
  readonly log: PluginLog;
}

export interface Candidates {
  /** How many there are, those for another protocol version included. */
  readonly found: number;
  readonly usable: readonly Candidate[];
}

export function readCandidates(sources: Sources, discover: boolean): Candidates {
  const all = [...(discover ? discovered(sources.cwd) : []), ...registered(sources.registry)];
  const ids = new Set<string>();
  for (const { manifest } of all) {
    if (ids.has(manifest.id)) throw duplicate(manifest.id);
    ids.add(manifest.id);
  }
  return {
    found: all.length,
    usable: all.filter((candidate) => isForThisHost(candidate.manifest, sources)),
  };
}

function discovered(cwd: string): readonly Candidate[] {
  return discoverPlugins(cwd).map(({ source, manifestText, load }) => ({
    manifest: parseManifest(source, manifestText),
    load,
  }));
}

function registered(registry: PluginRegistry | undefined): readonly Candidate[] {
  return (registry?.freeze() ?? []).map(({ name, factory, manifest: given }) => {
    const manifest = parseManifest(name, given);
    if (manifest.id !== name) {
      throw new PluginStartupError(
        {
          error_code: 'plugin_manifest_invalid',
          plugin_id: name,
          remediation: 'register the plugin under the id of its manifest',
        },
        `${name}: metadata.id: the manifest is for ${manifest.id}`,
      );
    }
    return { manifest, load: async () => factory };
  });
}

function isForThisHost(manifest: Manifest, sources: Sources): boolean {
  const { id, protocolRange } = manifest;
  if (protocolRange.isWildcard) {
    sources.log('warn', `${id} accepts every protocol version; a range would be safer`);
  }
  if (protocolRange.admits(parseVersion(HOST_PROTOCOL_VERSION) as Version)) return true;
  const error = new PluginStartupError(
    {
      error_code: 'plugin_protocol_version_mismatch',
      plugin_id: id,
      plugin_declares: protocolRange.text,
      host_supports: HOST_PROTOCOL_VERSION_RANGE,
      remediation: `install a version of ${id} made for protocol ${HOST_PROTOCOL_VERSION}, or remove it`,
    },
    `${id} declares ${protocolRange.text}, this host speaks ${HOST_PROTOCOL_VERSION}`,
  );
  sources.log('error', JSON.stringify(error.record));
  if (!sources.skipMismatched) throw error;
  return false;
}

function duplicate(id: string): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_capability_conflict',
      plugin_id: id,
      remediation: 'keep one of the two',
    },
    `two plugins have the id ${id}`,
  );
}
