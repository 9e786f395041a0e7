/**
 * opencode: the server and a rules file in `opencode.json` (or `.jsonc`, whichever is there), a plugin
 * of ours instead of hooks, the discipline as a skill. OPENCODE_CONFIG_DIR and XDG_CONFIG_HOME move the
 * user's files.
 */
import { join } from 'node:path';
import { SERVER_NAME } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { Piece, WantedFile } from '../piece.ts';
import { serverCommand } from '../shim.ts';
import { opencodePlugin } from './opencode-plugin.ts';
import {
  type InstallOptions,
  type InstallSite,
  primerFile,
  skillFile,
  type VendorPart,
} from './vendor.ts';

const SCHEMA = 'https://opencode.ai/config.json';

export const opencode: VendorPart = {
  name: 'opencode',
  title: 'opencode',
  command: 'opencode',
  package: 'opencode-ai',
  versionMin: '1.0.0',
  advice: () => [],
  switches: () => [],
  files,
};

function files(site: InstallSite, options: InstallOptions, text: RenderedDiscipline): WantedFile[] {
  const isUser = site.scope === 'user';
  const folder = isUser ? userFolder(site) : join(site.root, '.opencode');
  const { command, args } = serverCommand('opencode', site);
  const rules = join(folder, 'synod.md');
  // opencode adds it to any file that lacks it, and would so leave a trace in one that we made.
  const schema: Piece = { kind: 'member', at: ['$schema'], value: SCHEMA, isOptional: true };
  // One word for all tools may stand there instead, and then says it already.
  const at = ['permission', `${SERVER_NAME}_*`];
  const allow: Piece = { kind: 'member', at, value: 'allow', isOptional: true };
  const pieces: Piece[] = [
    schema,
    {
      kind: 'member',
      at: ['mcp', SERVER_NAME],
      value: { type: 'local', command: [command, ...args], enabled: true },
    },
    // A project's file is named from its root, so that it is found on other machines too.
    { kind: 'item', at: ['instructions'], value: isUser ? rules : '.opencode/synod.md' },
  ];
  if (options.permissions) pieces.push(allow);
  return [
    {
      path: configPath(site, folder),
      format: 'json',
      why: 'registers the MCP server and the rules file',
      pieces,
      anybodys: [schema, allow],
    },
    primerFile(rules, text),
    {
      path: join(folder, 'plugins', 'synod.js'),
      format: 'own',
      why: 'the plugin: reminders, delivery, the guard',
      pieces: [{ kind: 'whole', text: opencodePlugin(options.gates ?? null) }],
    },
    skillFile(folder, text),
  ];
}

function userFolder({ home, env }: InstallSite): string {
  if (env.OPENCODE_CONFIG_DIR) return env.OPENCODE_CONFIG_DIR;
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode');
}

/** The one that is there; where there is none, the plain name. */
function configPath(site: InstallSite, folder: string): string {
  const sites = site.scope === 'user' ? [folder] : [site.root, folder];
  const names = sites.flatMap((one) => [join(one, 'opencode.jsonc'), join(one, 'opencode.json')]);
  return names.find((name) => site.exists(name)) ?? join(sites[0] as string, 'opencode.json');
}
