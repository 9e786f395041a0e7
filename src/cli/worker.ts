/**
 * `synod worker …`: the workers in the box, each a program that speaks JSON-RPC on its stdin and
 * stdout, by our name and by the reference's. Only the one that was asked for is loaded. They end when
 * their input ends, with 0.
 */
import type { Command } from 'commander';
import { fail } from './failure.ts';
import { registerModels } from './worker-model.ts';
import { registerRegistry } from './worker-registry.ts';
import { serve, version } from './worker-serve.ts';

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
  registerModels(worker);
  registerMcpProxy(worker);
  registerRegistry(worker);
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
