/**
 * `synod worker …`: the workers in the box, each a program that speaks JSON-RPC on its stdin and
 * stdout, by our name and by the reference's. Only the one that was asked for is loaded. They end when
 * their input ends, with 0.
 */
import type { Command } from 'commander';
import type { LineIo } from '../bus/programs/stdio-lines.ts';
import { readJson } from './body-input.ts';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { parseDurationMs } from './parse-value.ts';
import { registerRegistry } from './worker-registry.ts';

export function registerWorker(program: Command): void {
  const worker = program
    .command('worker')
    .description('workers in the box: JSON-RPC on stdin and stdout, for a pool of the bus');
  const plain = worker
    .command('echo')
    .alias('echo-worker')
    .description('answers with what it was asked');
  serve(plain, 'echo', async (io) => (await import('../bus/programs/echo.ts')).runEcho(io));
  const stream = worker
    .command('stream-echo')
    .description('says params.text back in pieces, then answers');
  serve(stream, 'stream-echo', async (io) =>
    (await import('../bus/programs/stream-echo.ts')).runStreamEcho(io),
  );
  const mcpEcho = worker
    .command('mcp-echo')
    .alias('mcp-echo-server')
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
    .alias('acp-worker')
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
    .alias('openai-agent')
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
    .alias('mcp-to-acp-proxy')
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
