/**
 * `synod config`: the settings a hub started here would have, where each was said, and whom a command
 * speaks as. It reads and changes nothing. SOX's command of this name prints JSON; so does `--json`.
 */
import type { Command } from 'commander';
import { agentFor } from '../client/node/target.ts';
import type { ShownSetting } from '../server/run/config-shown.ts';
import { shownStore } from '../server/run/store-url.ts';
import { SOX_PROTOCOL_VERSION } from '../wire/sox.ts';
import { type Context, handle } from './context.ts';
import { addServeFlags, judged, readConfigInput, type ServeOptions } from './serve-flags.ts';
import { columns, jsonText } from './terminal.ts';

interface ConfigFlags extends ServeOptions {
  readonly compact?: boolean;
}

export function registerConfig(program: Command): void {
  const command = addServeFlags(
    program
      .command('config')
      .description('the settings a hub started here would have, and where each comes from')
      .option('--compact', 'JSON on one line, as SOX has it; the same as --json'),
  );
  handle<ConfigFlags>(command, showConfiguration);
}

async function showConfiguration(context: Context<ConfigFlags>): Promise<void> {
  const { flags, print, show } = context;
  const { showConfig } = await import('../server/run/config-shown.ts');
  const { env } = process;
  const { settings } = judged<{ readonly settings: readonly ShownSetting[] }>(
    showConfig(readConfigInput(flags)),
    flags,
  );
  const agent = agentFor(flags, flags.token ?? (env.SYNOD_TOKEN || null), env);
  const document = {
    sox_protocol_version: SOX_PROTOCOL_VERSION,
    project_dir: process.cwd(),
    agent_id: agent,
    backing_store: settings.find(({ field }) => field === 'store')?.value,
    settings: Object.fromEntries(settings.map(({ field, ...rest }) => [field, rest])),
    env: variables(env),
  };
  if (flags.compact === true) return print(jsonText(document));
  show(document, () => [
    ...columns([
      ['agent', agent ?? 'whose token it is'],
      ['here', document.project_dir],
    ]),
    '',
    ...columns(settings.map((one) => [one.field, textOf(one.value), placeOf(one, flags)])),
  ]);
}

function textOf(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : jsonText(value);
}

function placeOf({ source, said }: ShownSetting, { config }: ConfigFlags): string {
  if (said === null) return 'default';
  return source === 'file' ? `${said} in ${config}` : said;
}

/** The variables that are ours or SOX's; what may be a secret is not shown. */
function variables(env: NodeJS.ProcessEnv): Record<string, string> {
  const ours = Object.keys(env)
    .filter((name) => /^(SOX|SYNOD|SYNAPSE)_|^CLAUDE_AGENT_NAME$/.test(name))
    .sort();
  return Object.fromEntries(
    ours.map((name) => [name, isSecret(name) ? '(hidden)' : shownStore(env[name] ?? '')]),
  );
}

function isSecret(name: string): boolean {
  return /TOKEN|SECRET|CREDENTIAL|PASSWORD|KEY|^SOX_PLUGIN_/.test(name);
}
