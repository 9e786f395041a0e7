/**
 * `synod worker registry`: agents of an ACP registry behind one line, with their keys. By the name
 * `acp-registry` it takes what the reference's launcher takes: its config file, and its default.
 */
import type { Command } from 'commander';
import type { KeysCommand, RegistryFiles } from '../bus/programs/registry-command.ts';
import type { LauncherConfig } from '../bus/programs/registry-config.ts';
import { packageVersion } from '../server/run/version.ts';
import { readJsonFile, readStdin } from './body-input.ts';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { parseDurationMs } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface RegistryFlags {
  readonly registry?: string;
  readonly customAgents?: string;
  readonly apiKeys?: string;
  readonly binaries?: string;
  readonly allowEnv?: readonly string[];
  readonly askTimeout: string;
  readonly shutdownTimeout?: string;
  readonly authStatus?: true;
  readonly setup?: true;
  readonly setKey?: string;
  readonly logout?: string | true;
  readonly login?: string;
  readonly for?: readonly string[];
  readonly keychain: boolean;
}

/** Where the reference's launcher looks when nobody says; ours asks nobody by itself. */
const PUBLIC_REGISTRY = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json';

export function registerRegistry(worker: Command): void {
  const own = worker
    .command('registry')
    .description('runs agents of an ACP registry file, chosen by the top-level agentId');
  addRegistry(own, null);
  const theirs = worker
    .command('acp-registry')
    .description("the same by the reference's name; without --registry the public one is read");
  addRegistry(theirs, PUBLIC_REGISTRY);
}

function addRegistry(command: Command, usual: string | null): void {
  const registry = command
    .argument(
      '[config]',
      '{"registryUrl", "apiKeysPath", "customAgentsPath", "shutdownTimeoutSec"}',
    )
    .option('--registry <file or url>', 'ACP_REGISTRY_URL, or registryUrl of the config')
    .option('--custom-agents <file>', 'more agents, which win (ACP_CUSTOM_AGENTS_PATH)')
    .option('--api-keys <file>', 'ACP_API_KEYS_PATH, or ./api-keys.json')
    .option('--binaries <dir>', 'where binaries are unpacked, a folder for each agent')
    .option('--allow-env <name>', 'a variable agents may have of ours; may be repeated', collect)
    .option('--ask-timeout <time>', 'for a permission prompt; then it is refused', '5m')
    .option('--shutdown-timeout <time>', 'from SIGTERM to SIGKILL (5s)')
    .option('--auth-status', 'say which agents have keys, and end')
    .option('--setup', 'ask for keys and logins, or write the keys file to fill in, and end')
    .option('--set-key <agent:VARIABLE>', 'put what stdin says into the keys file, and end')
    .option('--logout [agent or provider]', 'remove its keys or login, or all of them, and end')
    .option(
      '--login <provider>',
      'log in over OAuth: github, google, azure, cognito, oidc; and end',
    )
    .option('--for <agent>', 'an agent that gets the token of --login; may be repeated', collect)
    .option('--no-keychain', 'keep logins in their file alone, without a key in the keychain');
  handle<RegistryFlags>(registry, async ({ flags, args, show }) => {
    const { processIo } = await import('../bus/programs/stdio-lines.ts');
    const io = processIo('registry');
    const { parseLauncherConfig } = await import('../bus/programs/registry-config.ts');
    const [path] = args;
    const config = parseLauncherConfig(
      path === undefined ? {} : await readJsonFile(path),
      path,
      io.note,
    );
    const { findKeychain } = await import('../bus/programs/keychain.ts');
    const keychain = flags.keychain ? findKeychain(process.env) : null;
    const files = { ...filesOf(flags, process.env, config, usual), keychain };
    const command = await keysCommandOf(flags, io.note);
    if (command !== null) {
      const { runKeysCommand } = await import('../bus/programs/registry-command.ts');
      const lines = await runKeysCommand(files, command, io.note);
      if (command.do === 'setup') command.person?.close();
      return show({ done: command.do, lines }, () => lines.map((line) => neutralise(line)));
    }
    if (files.registry === null) {
      throw fail('cli.usage', 'synod worker registry wants --registry: a file, or a URL');
    }
    const { readRegistry } = await import('../bus/programs/registry-file.ts');
    const { readKeys } = await import('../bus/programs/registry-keys.ts');
    const { runRegistry } = await import('../bus/programs/registry.ts');
    const { loginsPath, openLoginsFile } = await import('../bus/programs/logins-file.ts');
    const { openLogins } = await import('../bus/programs/oauth-logins.ts');
    const loginsFile = openLoginsFile(loginsPath(files.apiKeys), keychain);
    const auto = await autoLogin(process.env, io.note);
    const logins = openLogins(loginsFile, await loginsFile.read(), auto, io.note);
    await logins.renew();
    await runRegistry(
      {
        headersFor: logins.headersFor,
        logIn: logins.logIn,
        registry: await readRegistry(files.registry, files.customAgents),
        keys: await readKeys(files.apiKeys, io.note),
        version: packageVersion(),
        allowEnv: flags.allowEnv ?? [],
        binariesDir: flags.binaries ?? null,
        askMs: parseDurationMs(flags.askTimeout, '--ask-timeout'),
        shutdownMs:
          flags.shutdownTimeout === undefined
            ? config.shutdownTimeoutSec * 1_000
            : parseDurationMs(flags.shutdownTimeout, '--shutdown-timeout'),
      },
      io,
    );
    process.exit(0);
  });
}

/** Flags first, then the reference's variables, then its config file. */
function filesOf(
  flags: RegistryFlags,
  env: NodeJS.ProcessEnv,
  config: LauncherConfig,
  usual: string | null,
): Omit<RegistryFiles, 'keychain'> {
  return {
    registry: flags.registry ?? (env.ACP_REGISTRY_URL || config.registryUrl || usual),
    customAgents: flags.customAgents ?? (env.ACP_CUSTOM_AGENTS_PATH || config.customAgentsPath),
    apiKeys: flags.apiKeys ?? (env.ACP_API_KEYS_PATH || config.apiKeysPath || './api-keys.json'),
  };
}

/** The reference's variable: with it an agent that wants a login has the page opened by itself. */
async function autoLogin(
  env: NodeJS.ProcessEnv,
  note: (text: string) => void,
): Promise<{ env: NodeJS.ProcessEnv; open: (url: string) => void } | null> {
  const { AUTH_AUTO_OAUTH: said = '' } = env;
  if (said !== 'true' && said !== '1') {
    if (said !== '' && said !== 'false' && said !== '0') {
      note(`AUTH_AUTO_OAUTH is ${JSON.stringify(said)} and counts as false; write true or false`);
    }
    return null;
  }
  const { openPage } = await import('./open-page.ts');
  // A worker has no terminal: whether a page can be seen is for the variables to say.
  return { env, open: (url) => openPage(env, true, note)(url) };
}

async function keysCommandOf(
  flags: RegistryFlags,
  note: (text: string) => void,
): Promise<KeysCommand | null> {
  const { authStatus, setup, setKey, logout, login } = flags;
  if (login !== undefined) {
    const { env } = process;
    const { openPage } = await import('./open-page.ts');
    return {
      ...{ do: 'login', provider: login, agents: flags.for ?? [], env },
      open: openPage(env, process.stderr.isTTY, note),
    };
  }
  if (authStatus === true) return { do: 'auth-status' };
  if (setup === true) {
    const { env } = process;
    const { openPage } = await import('./open-page.ts');
    const { openPerson } = await import('./ask-person.ts');
    return {
      ...{ do: 'setup', person: openPerson(), env },
      open: () => openPage(env, process.stderr.isTTY, note),
    };
  }
  if (logout !== undefined) return { do: 'logout', agent: logout === true ? null : logout };
  if (setKey === undefined) return null;
  return { do: 'set-key', target: setKey, value: await readStdin() };
}
