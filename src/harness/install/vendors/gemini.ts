/**
 * Gemini CLI: server and hooks in `settings.json`, the discipline as a section of GEMINI.md and a
 * skill. GEMINI_CLI_HOME moves the user's files. Gemini replaces `$NAME` in its settings before the
 * shell sees it; the lines we write come out the same either way.
 */
import { join } from 'node:path';
import { SERVER_NAME } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { WantedFile } from '../piece.ts';
import { sealText } from '../seal.ts';
import { HOOK_TIMEOUT_SECONDS, hookCommand, serverCommand } from '../shim.ts';
import {
  hookPieces,
  type InstallOptions,
  type InstallSite,
  namesUs,
  type Switch,
  type VendorPart,
} from './vendor.ts';

const EVENTS = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'AfterAgent',
  'SessionEnd',
] as const;

export const gemini: VendorPart = {
  name: 'gemini',
  title: 'Gemini CLI',
  command: 'gemini',
  package: '@google/gemini-cli',
  versionMin: '0.50.0',
  advice: () => ['Gemini CLI starts MCP servers only in folders that you have told it to trust'],
  switches,
  files,
};

function folderOf({ scope, home, root, env }: InstallSite): string {
  return join(scope === 'user' ? env.GEMINI_CLI_HOME || home : root, '.gemini');
}

function switches(site: InstallSite): Switch[] {
  const settings = { path: join(folderOf(site), 'settings.json'), format: 'json' } as const;
  return [
    {
      ...settings,
      at: ['hooksConfig', 'enabled'],
      isOff: (value) => value === false,
      message: 'hooksConfig.enabled switches all hooks off',
    },
    {
      ...settings,
      at: ['hooksConfig', 'disabled'],
      isOff: namesUs,
      message: 'hooksConfig.disabled names our hooks',
    },
    {
      ...settings,
      at: ['mcp', 'excluded'],
      isOff: namesUs,
      message: 'mcp.excluded names our server',
    },
    {
      ...settings,
      at: ['mcp', 'allowed'],
      isOff: (value) => Array.isArray(value) && !namesUs(value),
      message: 'mcp.allowed does not name our server',
    },
  ];
}

function files(site: InstallSite, options: InstallOptions, text: RenderedDiscipline): WantedFile[] {
  const isUser = site.scope === 'user';
  const folder = folderOf(site);
  const server = {
    ...serverCommand('gemini', site),
    // Its word for: do not ask before each call.
    ...(options.permissions && { trust: true }),
  };
  const hooks = hookPieces(EVENTS, hookCommand('gemini'), () => ({
    name: SERVER_NAME,
    timeout: HOOK_TIMEOUT_SECONDS * 1000,
  }));
  return [
    {
      path: join(folder, 'settings.json'),
      format: 'json',
      why: 'registers the MCP server, and hooks: reminders, delivery, the guard',
      pieces: [{ kind: 'member', at: ['mcpServers', SERVER_NAME], value: server }, ...hooks],
    },
    {
      path: isUser ? join(folder, 'GEMINI.md') : join(site.root, 'GEMINI.md'),
      format: 'markdown',
      why: 'tells the agent, in a few lines, that it has channels',
      pieces: [{ kind: 'section', mark: 'synod-gemini', text: text.primer }],
    },
    {
      path: join(folder, 'skills', text.skillName, 'SKILL.md'),
      format: 'own',
      why: 'the skill that teaches the agent how to use channels',
      pieces: [{ kind: 'whole', text: sealText(text.skill, 'markdown') }],
    },
  ];
}
