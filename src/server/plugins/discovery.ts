/**
 * Plugins found in `<cwd>/node_modules`, scopes included.
 *
 * A package is a plugin when its package.json has a top-level `"sox"`: the path of its manifest
 * inside the package. Reading is all that happens here; no code of a package runs before its
 * manifest, version and place on the allow-list have been judged.
 */

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readJson } from '../../core/law/json.ts';
import {
  MANIFEST_BYTES_MAX,
  PACKAGE_JSON_BYTES_MAX,
  PACKAGES_SCANNED_MAX,
  PLUGINS_MAX,
} from './limits.ts';
import { entryPath } from './package-entry.ts';
import type { PluginFactory } from './registry.ts';
import { PluginStartupError } from './startup-error.ts';

export interface Found {
  /** The package name, for messages. */
  readonly source: string;
  readonly manifestText: string;
  /** Imports the package and hands out its factory. */
  load(): Promise<PluginFactory>;
}

export function discoverPlugins(cwd: string): readonly Found[] {
  const found: Found[] = [];
  for (const folder of packageFolders(join(cwd, 'node_modules'))) {
    const plugin = readPackage(folder);
    if (plugin === null) continue;
    found.push(plugin);
    if (found.length > PLUGINS_MAX) {
      throw refusal('node_modules', `more than ${PLUGINS_MAX} plugins are installed`);
    }
  }
  return found;
}

function packageFolders(root: string): readonly string[] {
  const folders: string[] = [];
  for (const name of namesIn(root)) {
    if (name.startsWith('.')) continue;
    const names = name.startsWith('@')
      ? namesIn(join(root, name)).map((inner) => join(name, inner))
      : [name];
    folders.push(...names.map((each) => join(root, each)));
    if (folders.length > PACKAGES_SCANNED_MAX) {
      throw refusal(root, `more than ${PACKAGES_SCANNED_MAX} packages; set SOX_NO_DISCOVERY=1`);
    }
  }
  return folders;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // No node_modules, or a scope that is not a folder: nothing is installed there.
    return [];
  }
}

function readPackage(folder: string): Found | null {
  const text = readBounded(join(folder, 'package.json'), PACKAGE_JSON_BYTES_MAX);
  // Most packages are no plugins, and most of a scan would be spent parsing them.
  if (text === null || !text.includes('"sox"')) return null;
  let description: unknown;
  try {
    description = readJson(text);
  } catch {
    // A broken package.json is its package manager's business; it declares no plugin.
    return null;
  }
  const manifestPath = (description as { sox?: unknown } | null)?.sox;
  if (manifestPath === undefined) return null;
  const name = (description as { name?: unknown }).name;
  const source = typeof name === 'string' ? name : folder;
  if (typeof manifestPath !== 'string') throw refusal(source, 'package.json "sox" must be a path');
  const manifestText = readBounded(inside(folder, manifestPath, source), MANIFEST_BYTES_MAX);
  if (manifestText === null) {
    throw refusal(
      source,
      `${manifestPath} is missing, unreadable or larger than ${MANIFEST_BYTES_MAX} bytes`,
    );
  }
  return { source, manifestText, load: () => importFactory(folder, source, description) };
}

async function importFactory(
  folder: string,
  source: string,
  description: unknown,
): Promise<PluginFactory> {
  const path = entryPath(description);
  if (path === null) {
    throw new Error(`${source} exports neither "./plugin" nor "."`);
  }
  const module: { default?: unknown } = await import(
    pathToFileURL(inside(folder, path, source)).href
  );
  if (typeof module.default !== 'function') {
    throw new Error(`the default export of ${source} (${path}) is not a factory function`);
  }
  return module.default as PluginFactory;
}

/** The real path of a file of the package; a path that leads out of it is refused. */
function inside(folder: string, path: string, source: string): string {
  const root = realpathSync(folder);
  const target = resolve(root, path);
  let real = target;
  try {
    real = realpathSync(target);
  } catch {
    // It does not exist: whoever reads it will say so.
  }
  const way = relative(root, real);
  if (way.startsWith('..') || isAbsolute(way)) {
    throw refusal(source, `${path} leads out of the package`);
  }
  return real;
}

function readBounded(path: string, bytesMax: number): string | null {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}

function refusal(source: string, what: string): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_manifest_invalid',
      plugin_id: null,
      remediation: `correct or remove the package ${source}`,
    },
    `${source}: ${what}`,
  );
}
