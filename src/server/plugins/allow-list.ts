/**
 * Which plugins may load, and whether packages are scanned at all.
 *
 * The option beats `SOX_ALLOWED_PLUGINS`. A list is the law: what is not on it is skipped with a
 * warning, and an empty list loads nothing. Without a list all that is found loads, but nothing in
 * production (`SOX_ENV=production`), where what is listed must also be there.
 */

import { PluginStartupError } from './startup-error.ts';

export interface Policy {
  readonly isProduction: boolean;
  /** Null: whatever is found. */
  readonly allowed: ReadonlySet<string> | null;
  readonly isDiscoveryOn: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function readPolicy(
  env: Environment,
  options: { readonly allow?: readonly string[] | undefined; readonly discover: boolean },
): Policy {
  const isProduction = env.SOX_ENV === 'production';
  const listed = options.allow ?? env.SOX_ALLOWED_PLUGINS?.split(',') ?? (isProduction ? [] : null);
  return {
    isProduction,
    allowed: listed && new Set(listed.map((id) => id.trim()).filter((id) => id !== '')),
    isDiscoveryOn: options.discover && env.SOX_NO_DISCOVERY !== '1',
  };
}

/** The plugins that may load; `warn` hears of every unlisted one. */
export function applyAllowList<Plugin extends { readonly manifest: { readonly id: string } }>(
  plugins: readonly Plugin[],
  policy: Policy,
  warn: (line: string) => void,
): readonly Plugin[] {
  const { allowed } = policy;
  if (allowed === null) return plugins;
  const found = new Set(plugins.map(({ manifest }) => manifest.id));
  const absent = [...allowed].filter((id) => !found.has(id));
  if (absent.length > 0) {
    const what = `${absent.join(', ')} is on the allow-list but not installed`;
    if (policy.isProduction) throw notFound(absent[0] as string, what);
    warn(`plugin_not_found: ${what}`);
  }
  return plugins.filter(({ manifest }) => {
    if (allowed.has(manifest.id)) return true;
    warn(`plugin_not_allowed: ${manifest.id} is not on the allow-list; skipped`);
    return false;
  });
}

function notFound(pluginId: string, what: string): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_not_found',
      plugin_id: pluginId,
      remediation: `install ${pluginId}, or take it off the allow-list`,
    },
    what,
  );
}
