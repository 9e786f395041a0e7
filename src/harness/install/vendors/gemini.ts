/**
 * Gemini CLI: server and hooks in `settings.json`, the discipline as a section of GEMINI.md and a
 * skill. GEMINI_CLI_HOME moves the user's files. Gemini replaces `$NAME` in its settings before the
 * shell sees it; the lines we write come out the same either way.
 */
import { join } from 'node:path';
import { SERVER_NAME } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { WantedFile } from '../piece.ts';
import { HOOK_TIMEOUT_SECONDS, hookCommand, serverCommand } from '../shim.ts';
import {
  hookPieces,
  type InstallOptions,
  type InstallSite,
  jsonSwitch,
  namesUs,
  primerSection,
  type Switch,
  skillFile,
  type VendorPart,
} from './vendor.ts';

const EVENTS = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'Notification',
  'AfterAgent',
  'SessionEnd',
] as const;

export const gemini: VendorPart = {
  name: 'gemini',
  title: 'Gemini CLI',
  command: 'gemini',
  package: '@google/gemini-cli',
  versionMin: '0.50.0',
  noGates:
    'Gemini CLI tells a hook of its permission prompts and takes no answer from it: they stay on the docket as blocked, and are answered at its terminal',
  advice: () => ['Gemini CLI starts MCP servers only in folders that you have told it to trust'],
  switches,
  files,
};

function folderOf({ scope, home, root, env }: InstallSite): string {
  return join(scope === 'user' ? env.GEMINI_CLI_HOME || home : root, '.gemini');
}

function switches(site: InstallSite): Switch[] {
  const path = join(folderOf(site), 'settings.json');
  const isOff = (value: unknown) => value === false;
  const isForOthers = (value: unknown) => Array.isArray(value) && !namesUs(value);
  const allOff = 'hooksConfig.enabled switches all hooks off';
  return [
    jsonSwitch(path, ['hooksConfig', 'enabled'], allOff, isOff),
    jsonSwitch(path, ['hooksConfig', 'disabled'], 'hooksConfig.disabled names our hooks', namesUs),
    jsonSwitch(path, ['mcp', 'excluded'], 'mcp.excluded names our server', namesUs),
    jsonSwitch(path, ['mcp', 'allowed'], 'mcp.allowed does not name our server', isForOthers),
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
  const handler = { name: SERVER_NAME, timeout: HOOK_TIMEOUT_SECONDS * 1000 };
  const hooks = hookPieces(
    EVENTS,
    () => hookCommand('gemini'),
    () => handler,
  );
  return [
    {
      path: join(folder, 'settings.json'),
      format: 'json',
      why: 'registers the MCP server, and hooks: reminders, delivery, the guard',
      pieces: [{ kind: 'member', at: ['mcpServers', SERVER_NAME], value: server }, ...hooks],
    },
    primerSection(join(isUser ? folder : site.root, 'GEMINI.md'), 'gemini', text),
    skillFile(folder, text),
  ];
}
