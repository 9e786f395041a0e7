/**
 * `synod mcp`: MCP over stdio for one agent, bridged to the hub; starts the hub when none runs.
 * Stdout belongs to the protocol, so everything else is said on stderr.
 */
import type { Command } from 'commander';
import type { HttpCallOptions } from '../transport/mcp/http-call.ts';
import { handle } from './context.ts';
import { fail, refused } from './failure.ts';
import { dataDirectory } from './hub-file.ts';
import { type Globals, resolveTarget, type Target } from './target.ts';
import { neutralise } from './terminal.ts';

interface McpFlags extends Globals {
  readonly tools?: string;
}

export function registerMcp(program: Command): void {
  const command = program
    .command('mcp')
    .description('MCP over stdio for one agent; starts the hub when none runs')
    .argument('[args...]', 'for SOX_AGENT_ID_SOURCE=arg:<n>')
    .option(
      '--tools <set>',
      'core, groups, work, more, admin, all, or tool names, separated by commas (core)',
    );
  handle<McpFlags>(command, async ({ args, flags }) => {
    const { env } = process;
    const as = flags.as ?? agentOf(env, args) ?? (hasToken(flags, env) ? undefined : 'default');
    const globals: Globals = { ...flags, ...(as !== undefined && { as }) };
    const locate = async (): Promise<Target> => {
      if (!globals.url && !env.SYNOD_URL) await startHub(globals);
      return resolveTarget(globals, { ...env, SYNOD_AGENT: '', SOX_AGENT_ID: '' });
    };
    await bridge(await locate(), locate, flags.tools ?? '');
  });
}

async function startHub(globals: Globals): Promise<void> {
  const { ensureHub } = await import('./background.ts');
  const dir = dataDirectory(globals.dir, process.env);
  try {
    await ensureHub(dir, []);
  } catch (error) {
    if ((error as { code?: string }).code !== 'hub.port-taken') throw error;
    // Nobody chose that port: any will do, because hub.json says which.
    await ensureHub(dir, ['--port=0']);
  }
}

async function bridge(
  target: Target,
  locate: () => Promise<Target>,
  toolset: string,
): Promise<void> {
  const [
    { createHttpCall },
    { createResourceEar },
    { serveMcpStdio },
    { createMcpTools },
    { operationList },
    version,
    { isRefusal },
    errors,
  ] = await Promise.all([
    import('../transport/mcp/http-call.ts'),
    import('../transport/mcp/http-listen.ts'),
    import('../transport/mcp/stdio.ts'),
    import('../transport/mcp/tools.ts'),
    import('../wire/operations/table.ts'),
    import('../server/version.ts'),
    import('../core/decider.ts'),
    import('../wire/errors.ts'),
  ]);
  const complain = (error: Error): void => {
    process.stderr.write(`synod mcp: ${neutralise(error.message)}\n`);
  };
  const options: HttpCallOptions = {
    ...addressOf(target),
    agent: target.agent ?? undefined,
    space: target.space ?? undefined,
    clientVersion: target.clientVersion ?? undefined,
    wantsTrace: process.env.SOX_TRACE === '1',
    transportHint: 'stdio',
    async relocate() {
      try {
        return addressOf(await locate());
      } catch (error) {
        complain(error as Error);
        return null;
      }
    },
  };
  const hub = createHttpCall(options);
  const served = serveMcpStdio({
    call: hub.call,
    ear: (hooks) => createResourceEar(options, () => hub.address, hooks),
    tools: createMcpTools(operationList),
    toolset,
    version: version.packageVersion(),
    input: process.stdin,
    output: process.stdout,
    onError: complain,
  });
  if (isRefusal(served)) throw refused(errors.toEnvelope(served));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void served.close());
  }
  await served.closed;
  hub.close();
}

function addressOf({ url, socketPath, token }: Target): {
  url: string;
  socketPath?: string;
  token?: string;
} {
  return {
    url: url.href,
    ...(socketPath !== null && { socketPath }),
    ...(token !== null && { token }),
  };
}

function hasToken(globals: Globals, env: NodeJS.ProcessEnv): boolean {
  return Boolean(globals.token ?? env.SYNOD_TOKEN);
}

/** SOX's chain: the id itself, then its source, then what the coding agent calls itself. */
export function agentOf(env: NodeJS.ProcessEnv, args: readonly string[]): string | undefined {
  if (env.SOX_AGENT_ID) return env.SOX_AGENT_ID;
  const source = env.SOX_AGENT_ID_SOURCE;
  if (!source) return env.SYNOD_AGENT || env.CLAUDE_AGENT_NAME || undefined;
  if (source === 'claude_code_agent_name') return env.CLAUDE_AGENT_NAME || undefined;
  const [, kind, which = ''] = /^(env|arg):(.+)$/.exec(source) ?? [];
  const id = kind === 'env' ? env[which] : kind === 'arg' ? args[Number(which) - 1] : undefined;
  if (id) return id;
  throw fail('cli.usage', `SOX_AGENT_ID_SOURCE is ${source}, which names nobody`, {
    hint: 'use env:<VAR> with a variable that is set, arg:<n> with an argument that is there, or --as NAME',
  });
}
