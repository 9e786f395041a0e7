/**
 * Codex: the server as a table of `config.toml`, hooks in `hooks.json`, the discipline as a section
 * of AGENTS.md and a skill. CODEX_HOME moves the user's files.
 *
 * Codex skips a hook that its user has not reviewed, silently, and remembers the review by file, place
 * and text. So the file is written only when it must change, the line in it never changes, and
 * Codex's own record of reviews is not touched, neither now nor by uninstall: the trust is a person's.
 */
import { join } from 'node:path';
import { SERVER_NAME } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { WantedFile } from '../piece.ts';
import { hookCommand, hookTimeoutSeconds, serverCommand } from '../shim.ts';
import {
  hookPieces,
  type InstallOptions,
  type InstallSite,
  primerSection,
  skillFile,
  type VendorPart,
  waitAt,
} from './vendor.ts';

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PermissionRequest',
  'Stop',
  'SubagentStop',
  'SessionEnd',
] as const;

/** Codex allows no more at the end of a session, and complains about more. */
const LAST_TIMEOUT_SECONDS = 3;

/** Codex goes on without a server that is not up after ten seconds, which takes a machine of busy agents [IN23]. */
const START_TIMEOUT_SECONDS = 60;

/** Codex hands a server almost nothing of its environment but what is named. */
const ENV_VARS = [
  'SYNOD_HOME',
  'SYNOD_DIR',
  'SYNOD_URL',
  'SYNOD_TOKEN',
  'SYNOD_AGENT',
  'SYNOD_PROJECT',
  'SOX_AGENT_ID',
  'SOX_NAMESPACE',
] as const;

export const codex: VendorPart = {
  name: 'codex',
  title: 'Codex',
  command: 'codex',
  package: '@openai/codex',
  versionMin: '0.150.0',
  advice: ({ scope }) => [
    ...(scope === 'project'
      ? ['Codex reads .codex of a project only when you have told it to trust the project']
      : []),
    'Codex runs the hooks only after you have reviewed them once: start codex and use /hooks',
  ],
  switches: (site) => [
    {
      path: join(folderOf(site), 'config.toml'),
      format: 'toml',
      at: ['features', 'hooks'],
      isOff: (value) => value === false,
      message: 'features.hooks switches all hooks off',
    },
  ],
  files,
};

function folderOf({ scope, home, root, env }: InstallSite): string {
  return scope === 'user' ? env.CODEX_HOME || join(home, '.codex') : join(root, '.codex');
}

function files(site: InstallSite, options: InstallOptions, text: RenderedDiscipline): WantedFile[] {
  const isUser = site.scope === 'user';
  const folder = folderOf(site);
  const { command, args } = serverCommand('codex', site);
  const hooks = hookPieces(
    EVENTS,
    (event) => hookCommand('codex', waitAt(event, options)),
    (event) => ({
      timeout:
        event === 'SessionEnd' ? LAST_TIMEOUT_SECONDS : hookTimeoutSeconds(waitAt(event, options)),
    }),
  );
  return [
    {
      path: join(folder, 'config.toml'),
      format: 'toml',
      why: 'registers the MCP server, so that the agent has the tools',
      pieces: [
        {
          kind: 'table',
          at: ['mcp_servers', SERVER_NAME],
          lines: [
            `command = ${JSON.stringify(command)}`,
            `args = [${args.map((arg) => JSON.stringify(arg)).join(', ')}]`,
            `env_vars = [${ENV_VARS.map((name) => JSON.stringify(name)).join(', ')}]`,
            `startup_timeout_sec = ${START_TIMEOUT_SECONDS}`,
            ...(options.permissions ? ['default_tools_approval_mode = "approve"'] : []),
          ],
        },
      ],
    },
    {
      path: join(folder, 'hooks.json'),
      format: 'json',
      why: 'hooks: reminders, delivery, the guard',
      pieces: hooks,
    },
    primerSection(join(isUser ? folder : site.root, 'AGENTS.md'), 'codex', text),
    skillFile(folder, text),
  ];
}
