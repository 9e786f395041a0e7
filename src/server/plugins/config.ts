/**
 * A plugin's settings, taken from the environment.
 *
 * `SOX_PLUGIN_` + the id upper-cased with `.` and `-` as `_` + `_` + KEY. Where one id is the
 * beginning of another, a variable belongs to the longest id that fits, so that a plugin never
 * reads its neighbour's settings.
 */

import type { Environment } from './allow-list.ts';

export function readConfig(
  id: string,
  ids: readonly string[],
  env: Environment,
): Readonly<Record<string, string>> {
  const prefix = prefixOf(id);
  const longer = ids.map(prefixOf).filter((other) => other !== prefix && other.startsWith(prefix));
  const config: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !name.startsWith(prefix) || name === prefix) continue;
    if (longer.some((other) => name.startsWith(other))) continue;
    config[name.slice(prefix.length).toLowerCase()] = value;
  }
  return Object.freeze(config);
}

function prefixOf(id: string): string {
  return `SOX_PLUGIN_${id.replace(/[.-]/g, '_').toUpperCase()}_`;
}
