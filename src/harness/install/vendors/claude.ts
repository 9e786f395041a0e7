/**
 * Claude Code: the server in `.mcp.json` or `~/.claude.json`, hooks and permissions in
 * `settings.json`, the discipline as a rules file of its own and a skill. CLAUDE_CONFIG_DIR moves the user's files.
 */
import { join } from 'node:path';
import { SERVER_NAME } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { Piece, WantedFile } from '../piece.ts';
import { hookCommand, hookTimeoutSeconds, serverCommand } from '../shim.ts';
import {
  hookPieces,
  type InstallOptions,
  type InstallSite,
  jsonSwitch,
  namesUs,
  primerFile,
  type Switch,
  skillFile,
  type VendorPart,
  waitAt,
} from './vendor.ts';

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'Notification',
  'Stop',
  'SubagentStop',
  'SessionEnd',
] as const;

export const claude: VendorPart = {
  name: 'claude',
  title: 'Claude Code',
  command: 'claude',
  package: '@anthropic-ai/claude-code',
  versionMin: '2.1.0',
  // The first with a messaging socket. npm brings an older one where Node is older than 22.
  wakeVersionMin: '2.1.224',
  advice: ({ scope }) =>
    scope === 'project'
      ? ['the first time in this folder, Claude Code asks whether to trust it and its MCP server']
      : [],
  switches,
  files,
};

function folderOf({ scope, home, root, env }: InstallSite): string {
  return scope === 'user' ? env.CLAUDE_CONFIG_DIR || join(home, '.claude') : join(root, '.claude');
}

function switches(site: InstallSite): Switch[] {
  return ['settings.json', 'settings.local.json'].flatMap((name): Switch[] => {
    const path = join(folderOf(site), name);
    const refused = 'disabledMcpjsonServers: somebody told Claude Code not to use the server here';
    return [
      jsonSwitch(
        path,
        ['disableAllHooks'],
        'disableAllHooks switches all hooks off',
        (value) => value === true,
      ),
      jsonSwitch(path, ['disabledMcpjsonServers'], refused, namesUs),
    ];
  });
}

function files(site: InstallSite, options: InstallOptions, text: RenderedDiscipline): WantedFile[] {
  const isUser = site.scope === 'user';
  const folder = folderOf(site);
  const servers = isUser
    ? join(site.env.CLAUDE_CONFIG_DIR || site.home, '.claude.json')
    : join(site.root, '.mcp.json');
  const server = { type: 'stdio', ...serverCommand('claude', site) };
  const hooks = hookPieces(
    EVENTS,
    (event) => hookCommand('claude', waitAt(event, options)),
    (event) => ({ timeout: hookTimeoutSeconds(waitAt(event, options)) }),
  );
  const leave = options.permissions ? permissions(isUser) : [];
  return [
    {
      path: servers,
      format: 'json',
      why: 'registers the MCP server, so that the agent has the tools',
      pieces: [{ kind: 'member', at: ['mcpServers', SERVER_NAME], value: server }],
      // Claude Code keeps credentials in the user's file.
      ...(isUser && { mode: 0o600 }),
    },
    {
      path: join(folder, 'settings.json'),
      format: 'json',
      why: options.permissions
        ? 'hooks (reminders, delivery, the guard) and leave to call the tools without asking'
        : 'hooks: reminders, delivery, the guard',
      pieces: [...hooks, ...leave],
      anybodys: leave,
    },
    primerFile(join(folder, 'rules', 'synod.md'), text),
    skillFile(folder, text),
  ];
}

function permissions(isUser: boolean): readonly Piece[] {
  const allow: Piece = {
    kind: 'item',
    at: ['permissions', 'allow'],
    value: `mcp__${SERVER_NAME}__*`,
  };
  const enable: Piece = { kind: 'item', at: ['enabledMcpjsonServers'], value: SERVER_NAME };
  return isUser ? [allow] : [allow, enable];
}
