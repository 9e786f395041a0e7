/**
 * What a person has yet to agree to. Claude Code and Gemini keep the answer in files of theirs, Codex says
 * it when asked. All of it is only read: to agree is a person's, and never ours [DO8].
 */
import { dirname, join, relative, resolve } from 'node:path';
import { isFields } from '../../wire/fields.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { type InstallSite, namesUs } from '../install/vendors/vendor.ts';
import { readCodexTrust } from './codex-trust.ts';
import { type Found, fail, ok, warn } from './hop.ts';
import { valueAt } from './registered.ts';
import type { Environment } from './vendor-env.ts';

export interface TrustAsked {
  readonly vendor: Vendor;
  readonly site: InstallSite;
  /** The project somebody works in, also for an installation of the user. */
  readonly root: string;
  readonly clean: Environment;
  /** No program of the vendor may be started. */
  readonly isQuick: boolean;
}

export async function readTrust(asked: TrustAsked): Promise<Found[]> {
  switch (asked.vendor) {
    case 'claude':
      return asked.site.scope === 'project' ? [claudeTrust(asked)] : [];
    case 'codex':
      return readCodexTrust(asked);
    case 'gemini':
      return [geminiTrust(asked)];
    case 'opencode':
      return [];
  }
}

function claudeTrust({ site, root }: TrustAsked): Found {
  const { home, env } = site;
  const folder = env.CLAUDE_CONFIG_DIR || join(home, '.claude');
  const settings = [
    join(root, '.claude', 'settings.local.json'),
    join(root, '.claude', 'settings.json'),
    join(folder, 'settings.json'),
  ];
  const state = join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
  const project = valueAt(state, 'json', ['projects', root]);
  const kept = isFields(project) ? project : {};
  if (namesUs(kept.disabledMcpjsonServers)) {
    return fail(
      'trust',
      `somebody told Claude Code not to use the server in ${root} (disabledMcpjsonServers in ${state})`,
      'start claude there and choose it with /mcp; or claude mcp reset-project-choices',
    );
  }
  const isApproved =
    namesUs(kept.enabledMcpjsonServers) ||
    kept.enableAllProjectMcpServers === true ||
    settings.some(
      (path) =>
        namesUs(valueAt(path, 'json', ['enabledMcpjsonServers'])) ||
        valueAt(path, 'json', ['enableAllProjectMcpServers']) === true,
    );
  if (!isApproved) {
    const message = `Claude Code will ask whether to use the server of ${root}; without a yes there are no tools`;
    return warn('trust', message, 'start claude there once and answer: use this MCP server');
  }
  if (kept.hasTrustDialogAccepted !== true) {
    const message = `Claude Code will ask whether you trust ${root}, and does nothing there before`;
    return warn('trust', message, 'start claude there once and answer yes, if you do');
  }
  return ok('trust', 'Claude Code trusts the folder and uses its server');
}

function geminiTrust({ site, root }: TrustAsked): Found {
  const folder = join(site.env.GEMINI_CLI_HOME || site.home, '.gemini');
  if (site.env.GEMINI_CLI_TRUST_WORKSPACE === 'true') {
    return ok('trust', 'GEMINI_CLI_TRUST_WORKSPACE says that folders are trusted');
  }
  const settings = join(folder, 'settings.json');
  if (valueAt(settings, 'json', ['security', 'folderTrust', 'enabled']) === false) {
    return ok('trust', 'Gemini CLI asks for no trust in folders (security.folderTrust)');
  }
  const path = join(folder, 'trustedFolders.json');
  const rules = valueAt(path, 'json', []);
  const level = geminiLevel(isFields(rules) ? rules : {}, root);
  if (level === 'trusted') return ok('trust', `Gemini CLI trusts ${root}`);
  if (level === 'distrusted') {
    return fail(
      'trust',
      `somebody told Gemini CLI not to trust ${root}, so it starts no server and no hook there`,
      `start gemini there and use /permissions, or change it in ${path}`,
    );
  }
  const message = `Gemini CLI has not been told whether to trust ${root}; until then there are no tools`;
  return warn('trust', message, 'start gemini there once and answer: trust this folder');
}

/** The rule of the folder itself, or of the nearest above it. */
export function geminiLevel(
  rules: Readonly<Record<string, unknown>>,
  root: string,
): 'trusted' | 'distrusted' | 'unknown' {
  let best = { length: -1, level: 'unknown' as 'trusted' | 'distrusted' | 'unknown' };
  for (const [name, rule] of Object.entries(rules)) {
    const folder = rule === 'TRUST_PARENT' ? dirname(resolve(name)) : resolve(name);
    const inside = relative(folder, root);
    if (inside.startsWith('..') || resolve(inside) === inside) continue;
    if (folder.length <= best.length) continue;
    const level = rule === 'DO_NOT_TRUST' ? ('distrusted' as const) : ('trusted' as const);
    best = { length: folder.length, level };
  }
  return best.level;
}
