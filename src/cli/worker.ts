/**
 * `synod worker …`: the workers in the box, each a program that speaks JSON-RPC on its stdin and
 * stdout. Only the one that was asked for is loaded. They end when their input ends, with 0.
 */
import type { Command } from 'commander';
import type { KeysCommand, RegistryFiles } from '../bus/programs/registry-command.ts';
import type { LineIo } from '../bus/programs/stdio-lines.ts';
import { readStdin } from './body-input.ts';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { parseDurationMs } from './parse-value.ts';
import { neutralise } from './terminal.ts';

export function registerWorker(program: Command): void {
  const worker = program
    .command('worker')
    .description('workers in the box: JSON-RPC on stdin and stdout, for a pool of the bus');
  const plain = worker.command('echo').description('answers with what it was asked');
  serve(plain, 'echo', async (io) => (await import('../bus/programs/echo.ts')).runEcho(io));
  const stream = worker
    .command('stream-echo')
    .description('says params.text back in pieces, then answers');
  serve(stream, 'stream-echo', async (io) =>
    (await import('../bus/programs/stream-echo.ts')).runStreamEcho(io),
  );
  const mcpEcho = worker
    .command('mcp-echo')
    .description('an MCP server: echo, reverse, uppercase, delay, error');
  serve(mcpEcho, 'mcp-echo', async (io) =>
    (await import('../bus/programs/mcp-echo.ts')).runMcpEcho(await version(), io),
  );
  registerAcpEcho(worker);
  registerOpenai(worker);
  registerRule(worker);
  registerTiered(worker);
  registerMcpProxy(worker);
  registerRegistry(worker);
}

/** Runs until the input has ended; whatever a library still holds open then does not keep us. */
function serve<Flags extends object>(
  command: Command,
  name: string,
  run: (io: LineIo, flags: Flags) => Promise<void>,
): void {
  handle<Flags>(command, async ({ flags }) => {
    const { processIo } = await import('../bus/programs/stdio-lines.ts');
    await run(processIo(name), flags);
    process.exit(0);
  });
}

async function version(): Promise<string> {
  return (await import('../server/run/version.ts')).packageVersion();
}

function registerAcpEcho(worker: Command): void {
  const command = worker
    .command('acp-echo')
    .description('an ACP agent that echoes; /ask, /read, /write, /run and /tool try its client')
    .option('--no-mcp', 'do not start MCP servers a client names');
  serve<{ mcp: boolean }>(command, 'acp-echo', async (io, { mcp }) => {
    const { runAcpEcho } = await import('../bus/programs/acp-echo.ts');
    await runAcpEcho({ version: await version(), usesMcp: mcp }, io);
  });
}

interface OpenaiFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly idleTimeout?: string;
  readonly timeout?: string;
}

function registerOpenai(worker: Command): void {
  const command = worker
    .command('openai')
    .description('an ACP agent in front of a chat completions endpoint; key in OPENAI_API_KEY')
    .option('--base-url <url>', 'OPENAI_BASE_URL')
    .option('--model <name>', 'OPENAI_MODEL')
    .option('--system-prompt <text>', 'OPENAI_SYSTEM_PROMPT')
    .option('--max-tokens <number>', 'OPENAI_MAX_TOKENS')
    .option('--temperature <number>', 'OPENAI_TEMPERATURE')
    .option('--idle-timeout <time>', 'between two pieces of an answer (60s)')
    .option('--timeout <time>', 'for a whole answer (10m)');
  serve<OpenaiFlags>(command, 'openai', async (io, flags) => {
    const { readChatOptions, runOpenai } = await import('../bus/programs/openai.ts');
    const { idleTimeout, timeout } = flags;
    const options = readChatOptions(process.env, {
      ...flags,
      ...(idleTimeout !== undefined && {
        idleMs: parseDurationMs(idleTimeout, '--idle-timeout'),
      }),
      ...(timeout !== undefined && { totalMs: parseDurationMs(timeout, '--timeout') }),
    });
    await runOpenai({ ...options, version: await version() }, io);
  });
}

interface RuleFlags {
  readonly rules?: string;
  readonly rule?: readonly string[];
  readonly otherwise?: string;
}

function registerRule(worker: Command): void {
  const command = worker
    .command('rule')
    .description('an ACP agent that answers from rules, without any network')
    .option('--rules <file>', '{"rules": [{"pattern", "answer"}], "otherwise"}')
    .option('--rule <pattern => answer>', 'one rule; may be repeated, tried first', collect)
    .option('--otherwise <text>', 'the answer when no rule matches');
  serve<RuleFlags>(command, 'rule', async (io, flags) => {
    const { parseRuleFlag, parseRuleSet, runRule } = await import('../bus/programs/rule.ts');
    const { rules: path } = flags;
    if (path === undefined && flags.rule === undefined && flags.otherwise === undefined) {
      throw fail('cli.usage', 'synod worker rule wants --rules, --rule or --otherwise');
    }
    const file =
      path === undefined
        ? { rules: [], otherwise: null }
        : parseRuleSet(await readJson(path), path);
    const own = (flags.rule ?? []).map(parseRuleFlag);
    const rules = {
      rules: [...own, ...file.rules],
      otherwise: flags.otherwise ?? file.otherwise,
    };
    await runRule({ rules, version: await version() }, io);
  });
}

function registerTiered(worker: Command): void {
  const command = worker
    .command('tiered')
    .description('an ACP agent that picks a tier by task class, length or keyword')
    .requiredOption('--config <file>', 'tiers, classes, routes, default, fallback');
  serve<{ config: string }>(command, 'tiered', async (io, { config }) => {
    const { parseModelTiers } = await import('../bus/programs/model-tiers.ts');
    const { runTiered } = await import('../bus/programs/tiered.ts');
    const tiers = parseModelTiers(await readJson(config), config, process.env);
    await runTiered({ tiers, version: await version() }, io);
  });
}

interface ProxyFlags {
  readonly unix?: string;
  readonly tcp?: string;
  readonly pool?: string;
  readonly agent?: string;
  readonly cwd?: string;
}

function registerMcpProxy(worker: Command): void {
  const command = worker
    .command('mcp-proxy')
    .description('an MCP server in front of ACP agents behind a bus; token in SYNOD_BUS_TOKEN')
    .option('--unix <path>', 'the socket of the bus')
    .option('--tcp <host:port>', 'its address (ACP_HOST and ACP_PORT, or 127.0.0.1:9000)')
    .option('--pool <id>', 'the pool its agents are in')
    .option('--agent <id>', 'the agent (AGENT_ID)')
    .option('--cwd <dir>', 'where the agent works (here)');
  serve<ProxyFlags>(command, 'mcp-proxy', async (io, flags) => {
    const { runMcpProxy } = await import('../bus/programs/mcp-proxy.ts');
    const { env } = process;
    await runMcpProxy(
      {
        socket: addressOf(flags, env),
        token: env.SYNOD_BUS_TOKEN || null,
        pool: flags.pool ?? null,
        agentId: flags.agent ?? (env.AGENT_ID || null),
        cwd: flags.cwd ?? process.cwd(),
        version: await version(),
      },
      io,
    );
  });
}

function addressOf(
  flags: ProxyFlags,
  env: NodeJS.ProcessEnv,
): { unixPath: string } | { tcpHost: string; tcpPort: number } {
  if (flags.unix !== undefined && flags.tcp !== undefined) {
    throw fail('cli.usage', '--unix and --tcp cannot both be given');
  }
  if (flags.unix !== undefined) return { unixPath: flags.unix };
  const text = flags.tcp ?? `${env.ACP_HOST || '127.0.0.1'}:${env.ACP_PORT || '9000'}`;
  const [, host = '', port = ''] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host !== '' && Number(port) >= 1 && Number(port) <= 65_535) {
    return { tcpHost: host, tcpPort: Number(port) };
  }
  throw fail('cli.usage', `the address of the bus must be HOST:PORT; found ${text}`);
}

interface RegistryFlags {
  readonly registry?: string;
  readonly customAgents?: string;
  readonly apiKeys?: string;
  readonly binaries?: string;
  readonly allowEnv?: readonly string[];
  readonly askTimeout: string;
  readonly shutdownTimeout: string;
  readonly authStatus?: true;
  readonly setup?: true;
  readonly setKey?: string;
  readonly logout?: string | true;
  readonly login?: string;
}

function registerRegistry(worker: Command): void {
  const registry = worker
    .command('registry')
    .description('runs agents of an ACP registry file, chosen by the top-level agentId')
    .option('--registry <file or url>', 'ACP_REGISTRY_URL; there is no default')
    .option('--custom-agents <file>', 'more agents, which win (ACP_CUSTOM_AGENTS_PATH)')
    .option('--api-keys <file>', 'ACP_API_KEYS_PATH, or ./api-keys.json')
    .option('--binaries <dir>', 'where binaries are unpacked, a folder for each agent')
    .option('--allow-env <name>', 'a variable agents may have of ours; may be repeated', collect)
    .option('--ask-timeout <time>', 'for a permission prompt; then it is refused', '5m')
    .option('--shutdown-timeout <time>', 'from SIGTERM to SIGKILL', '5s')
    .option('--auth-status', 'say which agents have keys, and end')
    .option('--setup', 'write the keys file for you to fill in, and end')
    .option('--set-key <agent:VARIABLE>', 'put what stdin says into the keys file, and end')
    .option('--logout [agent]', 'remove the keys of one agent, or of all, and end')
    .option('--login <provider>', 'not offered; says what to do');
  handle<RegistryFlags>(registry, async ({ flags, show }) => {
    if (flags.login !== undefined) {
      throw fail('cli.usage', 'logins over OAuth are not offered here', {
        hint: "log in with the agent's own tool, or put its key into the keys file: --setup, --set-key",
      });
    }
    const { processIo } = await import('../bus/programs/stdio-lines.ts');
    const io = processIo('registry');
    const files = filesOf(flags, process.env);
    const command = await keysCommandOf(flags);
    if (command !== null) {
      const { runKeysCommand } = await import('../bus/programs/registry-command.ts');
      const lines = await runKeysCommand(files, command, io.note);
      return show({ done: command.do, lines }, () => lines.map((line) => neutralise(line)));
    }
    if (files.registry === null) {
      throw fail('cli.usage', 'synod worker registry wants --registry: a file, or a URL');
    }
    const { readRegistry } = await import('../bus/programs/registry-file.ts');
    const { readKeys } = await import('../bus/programs/registry-keys.ts');
    const { runRegistry } = await import('../bus/programs/registry.ts');
    await runRegistry(
      {
        registry: await readRegistry(files.registry, files.customAgents),
        keys: await readKeys(files.apiKeys, io.note),
        version: await version(),
        allowEnv: flags.allowEnv ?? [],
        binariesDir: flags.binaries ?? null,
        askMs: parseDurationMs(flags.askTimeout, '--ask-timeout'),
        shutdownMs: parseDurationMs(flags.shutdownTimeout, '--shutdown-timeout'),
      },
      io,
    );
    process.exit(0);
  });
}

function filesOf(flags: RegistryFlags, env: NodeJS.ProcessEnv): RegistryFiles {
  return {
    registry: flags.registry ?? (env.ACP_REGISTRY_URL || null),
    customAgents: flags.customAgents ?? (env.ACP_CUSTOM_AGENTS_PATH || null),
    apiKeys: flags.apiKeys ?? (env.ACP_API_KEYS_PATH || './api-keys.json'),
  };
}

async function keysCommandOf(flags: RegistryFlags): Promise<KeysCommand | null> {
  const { authStatus, setup, setKey, logout } = flags;
  if (authStatus === true) return { do: 'auth-status' };
  if (setup === true) return { do: 'setup' };
  if (logout !== undefined) return { do: 'logout', agent: logout === true ? null : logout };
  if (setKey === undefined) return null;
  return { do: 'set-key', target: setKey, value: await readStdin() };
}

async function readJson(path: string): Promise<unknown> {
  const { readFile } = await import('node:fs/promises');
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const why = (cause as Error).message;
    throw fail('config.invalid', `${path} cannot be read as JSON: ${why}`, { cause });
  }
}
