/**
 * What an uninstall leaves on the machine: the hub's data, the cache of compiled code, and the trust
 * that vendors keep for hooks and servers of ours. Only what bears a name that we write is listed; what
 * else lies in the data directory is somebody's, and stays even when all this is deleted [IN18].
 */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isFields } from '../../wire/fields.ts';
import { SERVER_NAME } from '../../wire/tool-names.ts';
import { applyChanges, readBytes } from './apply.ts';
import { readValue, takePieces } from './document.ts';
import type { Format, Piece } from './piece.ts';
import { type InstallProblem, isProblem } from './problem.ts';
import type { InstallSite } from './vendors/vendor.ts';

export interface Remain {
  readonly what: 'data' | 'cache' | 'trust';
  readonly path: string;
  /** What it is, in a few words. */
  readonly message: string;
  /** Null when it is gone. */
  remove(): InstallProblem | null;
}

/** By these names the hub, its client and its hooks keep things; a person's settings are not among them. */
const OURS =
  /^(spaces|logs|credential|holder\.json|(hub|bus)\.(json|sock|log)(\.1)?|lock\.sqlite(-wal|-shm|-journal)?|sessions\.json(\.bad)?)$/;

export function listRemains(dir: string, sites: readonly InstallSite[]): Remain[] {
  const [site] = sites;
  return [...data(dir), ...(site === undefined ? [] : [...cache(site), ...trust(site, sites)])];
}

function data(dir: string): Remain[] {
  const names = listNames(dir).filter((name) => OURS.test(name));
  if (names.length === 0) return [];
  const spaces = listNames(join(dir, 'spaces')).filter((name) => name.endsWith('.sqlite')).length;
  const message = `what the hub keeps: ${spaces} ${spaces === 1 ? 'space' : 'spaces'} with all messages and claims`;
  return [{ what: 'data', path: dir, message, remove: () => removeAll(dir, names) }];
}

function cache({ env, home }: InstallSite): Remain[] {
  const folder = join(env.XDG_CACHE_HOME || join(home, '.cache'), 'synod');
  const names = listNames(folder).filter((name) => name === 'compiled');
  if (names.length === 0) return [];
  const message = 'compiled code, which is made again when it is needed';
  return [{ what: 'cache', path: folder, message, remove: () => removeAll(folder, names) }];
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there: nothing is kept.
    return [];
  }
}

function removeAll(folder: string, names: readonly string[]): null {
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
  try {
    rmdirSync(folder);
  } catch {
    // Something of others is in it.
  }
  return null;
}

function trust(site: InstallSite, sites: readonly InstallSite[]): Remain[] {
  const { env, home } = site;
  const codex = join(env.CODEX_HOME || join(home, '.codex'), 'config.toml');
  const claude = join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
  return [
    ...kept(codex, 'toml', 'Codex: hooks of ours were reviewed', reviews(codex, home, sites)),
    ...kept(claude, 'json', 'Claude Code: our server was approved', approvals(claude)),
  ];
}

function kept(path: string, format: Format, message: string, pieces: readonly Piece[]): Remain[] {
  if (pieces.length === 0) return [];
  return [{ what: 'trust', path, message, remove: () => take(path, format, pieces) }];
}

/** Codex names a review by file, event and place: only where the file is gone all of them were ours. */
function reviews(config: string, home: string, sites: readonly InstallSite[]): Piece[] {
  const files = sites
    .map(({ scope, root, env }) =>
      scope === 'user' ? env.CODEX_HOME || join(home, '.codex') : join(root, '.codex'),
    )
    .map((folder) => join(folder, 'hooks.json'))
    .filter((path) => !existsSync(path));
  return namesAt(config, 'toml', ['hooks', 'state'])
    .filter((name) => files.some((path) => name.startsWith(`${path}:`)))
    .map((name) => ({ kind: 'table', at: ['hooks', 'state', name], lines: [] }));
}

function approvals(state: string): Piece[] {
  return namesAt(state, 'json', ['projects'])
    .map((project) => ['projects', project, 'enabledMcpjsonServers'])
    .filter((at) => {
      const servers = fileValue(state, 'json', at);
      return Array.isArray(servers) && servers.includes(SERVER_NAME);
    })
    .map((at) => ({ kind: 'item', at, value: SERVER_NAME }));
}

function namesAt(path: string, format: 'json' | 'toml', at: readonly string[]): string[] {
  const value = fileValue(path, format, at);
  return isFields(value) ? Object.keys(value) : [];
}

function fileValue(path: string, format: 'json' | 'toml', at: readonly string[]): unknown {
  const bytes = readBytes(path);
  return Buffer.isBuffer(bytes) ? readValue(format, bytes, at) : undefined;
}

function take(path: string, format: Format, pieces: readonly Piece[]): InstallProblem | null {
  const before = readBytes(path);
  if (isProblem(before)) return before;
  if (before === null) return null;
  const rest = takePieces(path, format, before, pieces, []);
  if (isProblem(rest)) return rest;
  return applyChanges([{ path, before, after: rest.bytes, why: 'trust in what is gone' }]);
}
