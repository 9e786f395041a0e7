/** `synod mcp`: MCP over stdio for one agent. What is said here is only who it is and which tools it has. */
import type { Command } from 'commander';
import type { Globals } from '../client/node/target.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';
import { neutralise } from './terminal.ts';
import { parseVendor } from './vendor.ts';

interface McpFlags extends Globals {
  readonly tools?: string;
  readonly harness?: string;
  readonly whole?: boolean;
}

export function registerMcp(program: Command): void {
  const command = program
    .command('mcp')
    .description('MCP over stdio for one agent; starts the hub when none runs')
    .argument('[args...]', 'for SOX_AGENT_ID_SOURCE=arg:<n>')
    .option(
      '--tools <set>',
      'core, groups, work, more, admin, sox, all, or tool names, separated by commas (core)',
    )
    .option('--harness <vendor>', 'the coding agent that starts this; the hub says who it is')
    .option('--whole', 'with it: answers as SOX words them, with your own messages');
  handle<McpFlags>(command, async ({ args, flags }) => {
    const agent = flags.as ?? agentOf(process.env, args);
    const vendor = flags.harness === undefined ? null : parseVendor(flags.harness, '--harness');
    const [{ runBridge }, { packageVersion }] = await Promise.all([
      import('../harness/bridge/run.ts'),
      import('../server/run/version.ts'),
    ]);
    await runBridge({
      globals: flags,
      agent,
      vendor,
      toolset: flags.tools ?? '',
      isWhole: flags.whole === true,
      version: packageVersion(),
      complain: (error) => process.stderr.write(`synod mcp: ${neutralise(error.message)}\n`),
    });
  });
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
