/**
 * What a vendor will really run: read from the vendor's own files, not from what we would write there
 * today. A registration that is gone or not in a form the vendor takes is null.
 */
import { dirname } from 'node:path';
import { isFields } from '../../wire/fields.ts';
import { SERVER_NAME, type Vendor } from '../../wire/tool-names.ts';
import { readBytes } from '../install/apply.ts';
import { readValue } from '../install/document.ts';
import { wantedFiles } from '../install/install.ts';
import type { WantedFile } from '../install/piece.ts';
import { DEFAULT_OPTIONS, type InstallSite } from '../install/vendors/vendor.ts';

export interface Registered {
  /** The file that says so. */
  readonly path: string;
  readonly command: string;
  readonly args: readonly string[];
  /** As written there, not expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables the vendor is told to pass on. */
  readonly envVars: readonly string[];
}

interface ServerPlace {
  readonly at: readonly string[];
  readonly env: string;
}

const SERVERS: Readonly<Record<Vendor, ServerPlace>> = {
  claude: { at: ['mcpServers', SERVER_NAME], env: 'env' },
  codex: { at: ['mcp_servers', SERVER_NAME], env: 'env' },
  gemini: { at: ['mcpServers', SERVER_NAME], env: 'env' },
  opencode: { at: ['mcp', SERVER_NAME], env: 'environment' },
};

export function readServer(vendor: Vendor, site: InstallSite): Registered | null {
  const { at, env } = SERVERS[vendor];
  const file = filesOf(vendor, site).find(({ format, pieces }) =>
    pieces.some(
      (piece) =>
        (format === 'json' || format === 'toml') &&
        (piece.kind === 'member' || piece.kind === 'table') &&
        piece.at.join('.') === at.join('.'),
    ),
  );
  const value = file === undefined ? undefined : fileValue(file, at);
  if (file === undefined || !isFields(value)) return null;
  // opencode writes both as one list.
  const said = Array.isArray(value.command)
    ? textsOf(value.command)
    : [value.command, ...textsOf(value.args)];
  const [command, ...args] = said;
  if (typeof command !== 'string' || value.enabled === false || value.disabled === true)
    return null;
  const variables = isFields(value[env]) ? Object.entries(value[env]) : [];
  return {
    path: file.path,
    command,
    args: args as readonly string[],
    env: Object.fromEntries(
      variables.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
    ),
    envVars: textsOf(value.env_vars),
  };
}

export interface RegisteredHook {
  readonly path: string;
  readonly event: string;
  /** A line for the shell. */
  readonly command: string;
}

/** The first command of ours that the vendor runs at this event. */
export function readHook(vendor: Vendor, site: InstallSite, event: string): RegisteredHook | null {
  const file = filesOf(vendor, site).find(({ pieces }) =>
    pieces.some((piece) => piece.kind === 'item' && piece.at[0] === 'hooks'),
  );
  if (file === undefined) return null;
  const groups = fileValue(file, ['hooks', event]);
  for (const group of Array.isArray(groups) ? groups : []) {
    const handlers = isFields(group) && Array.isArray(group.hooks) ? group.hooks : [];
    for (const handler of handlers) {
      const command = isFields(handler) ? handler.command : undefined;
      if (typeof command === 'string' && isOurs(command, vendor)) {
        return { path: file.path, event, command };
      }
    }
  }
  return null;
}

/** Where opencode finds our plugin. */
export function pluginPath(site: InstallSite): string | null {
  const found = filesOf('opencode', site).find(({ path }) => dirname(path).endsWith('plugins'));
  return found !== undefined && site.exists(found.path) ? found.path : null;
}

/** A value of one of the vendor's files; undefined where there is none. */
export function valueAt(path: string, format: 'json' | 'toml', at: readonly string[]): unknown {
  const bytes = readBytes(path);
  return Buffer.isBuffer(bytes) ? readValue(format, bytes, at) : undefined;
}

/** Also one that was moved or wrapped by its owner counts, as long as it leads to the script. */
function isOurs(command: string, vendor: Vendor): boolean {
  return command.includes('bin/hook') && command.includes(vendor);
}

function filesOf(vendor: Vendor, site: InstallSite): readonly WantedFile[] {
  return wantedFiles(vendor, site, DEFAULT_OPTIONS);
}

function fileValue({ path, format }: WantedFile, at: readonly string[]): unknown {
  return format === 'json' || format === 'toml' ? valueAt(path, format, at) : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
