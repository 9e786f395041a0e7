/**
 * `synod mcp`: MCP over stdio for one agent, bridged to the hub; starts the hub when none runs.
 * Stdout belongs to the protocol, so everything else is said on stderr. Paths are claimed as
 * `synod claim` claims them, in the worktree the agent stands in, so that the two meet.
 */
import { realpath } from 'node:fs/promises';
import type { Command } from 'commander';
import { isRefusal, type Refusal, refuse } from '../core/law/decider.ts';
import type { HttpCallOptions } from '../harness/bridge/http-call.ts';
import { type Ground, placeOfPattern, readGround } from '../place/place.ts';
import { isProblem } from '../place/problem.ts';
import { handle } from './context.ts';
import { fail, refused } from './failure.ts';
import { isSessionKnown, joinHub, parseVendor, sessionOfCall } from './harness-bridge.ts';
import { dataDirectory } from './hub-file.ts';
import { type Globals, resolveTarget, type Target } from './target.ts';
import { neutralise } from './terminal.ts';

interface McpFlags extends Globals {
  readonly tools?: string;
  readonly harness?: string;
}

/** How the bridge comes to a hub, and to who it is there. */
interface Way {
  /** Where the hub is, started when none runs. */
  locate(): Promise<Target>;
  /** The same with who calls; `meta` is that of the first call, if there is one yet. */
  arrive(meta: Readonly<Record<string, unknown>>): Promise<Target>;
  /** Whether who calls is known without a call. */
  readonly isKnown: boolean;
}

export function registerMcp(program: Command): void {
  const command = program
    .command('mcp')
    .description('MCP over stdio for one agent; starts the hub when none runs')
    .argument('[args...]', 'for SOX_AGENT_ID_SOURCE=arg:<n>')
    .option(
      '--tools <set>',
      'core, groups, work, more, admin, all, or tool names, separated by commas (core)',
    )
    .option('--harness <vendor>', 'the coding agent that starts this; the hub says who it is');
  handle<McpFlags>(command, async ({ args, flags }) => {
    const { env } = process;
    const chosen = flags.as ?? agentOf(env, args);
    const isTold = hasToken(flags, env);
    const as = chosen ?? (isTold ? undefined : 'default');
    const globals: Globals = { ...flags, ...(as !== undefined && { as }) };
    const locate = async (): Promise<Target> => {
      if (!globals.url && !env.SYNOD_URL) await startHub(globals);
      return resolveTarget(globals, { ...env, SYNOD_AGENT: '', SOX_AGENT_ID: '' });
    };
    const vendor = flags.harness === undefined ? null : parseVendor(flags.harness);
    // A token says who it is.
    if (vendor === null || isTold) {
      const target = await locate();
      await bridge({ locate, arrive: async () => target, isKnown: true }, flags.tools ?? '');
      return;
    }
    const arrive: Way['arrive'] = async (meta) => {
      const target = await locate();
      const name = chosen === undefined ? null : target.agent;
      const session = sessionOfCall(vendor, meta);
      return { ...target, agent: await joinHub(target, vendor, { session, name }) };
    };
    const isKnown = isSessionKnown(vendor, env);
    await bridge({ locate, arrive, isKnown }, flags.tools ?? '');
  });
}

async function startHub(globals: Globals): Promise<void> {
  const { ensureHub } = await import('./background.ts');
  const dir = dataDirectory(globals.dir, process.env);
  try {
    await ensureHub(dir, [], 'agent');
  } catch (error) {
    if ((error as { code?: string }).code !== 'hub.port-taken') throw error;
    // Nobody chose that port: any will do, because hub.json says which.
    await ensureHub(dir, ['--port=0'], 'agent');
  }
}

/** A client is answered before the hub is looked for: some wait a second for us, and no longer. */
async function bridge(way: Way, toolset: string): Promise<void> {
  const [
    { createHttpCall },
    { createResourceEar },
    { serveMcpStdio },
    { createMcpTools },
    { operationList },
    version,
    errors,
  ] = await Promise.all([
    import('../harness/bridge/http-call.ts'),
    import('../harness/bridge/http-listen.ts'),
    import('../harness/bridge/stdio.ts'),
    import('../wire/mcp/tools.ts'),
    import('../wire/operations/table.ts'),
    import('../server/run/version.ts'),
    import('../wire/errors.ts'),
  ]);
  const complain = (error: Error): void => {
    process.stderr.write(`synod mcp: ${neutralise(error.message)}\n`);
  };
  const connect = async (meta: Readonly<Record<string, unknown>>) => {
    const target = await way.arrive(meta);
    const options: HttpCallOptions = {
      ...addressOf(target),
      agent: target.agent ?? undefined,
      space: target.space ?? undefined,
      clientVersion: target.clientVersion ?? undefined,
      wantsTrace: process.env.SOX_TRACE === '1',
      transportHint: 'stdio',
      async relocate() {
        try {
          return addressOf(await way.locate());
        } catch (error) {
          complain(error as Error);
          return null;
        }
      },
    };
    return { hub: createHttpCall(options), options };
  };
  const line: { open: ReturnType<typeof connect> | null } = { open: null };
  const reach = (meta: Readonly<Record<string, unknown>> = {}): ReturnType<typeof connect> => {
    line.open ??= connect(meta).catch((error) => {
      // The next call tries again.
      line.open = null;
      throw error;
    });
    return line.open;
  };
  // Meanwhile: hooks want a hub that is up, and whoever is known is seen to be here.
  (way.isKnown ? reach() : way.locate()).catch(complain);
  const place = createPlacer(process.cwd());
  const served = serveMcpStdio({
    async call(name, input, asked) {
      const placed = await place(name, input);
      if (isRefusal(placed)) return { error: errors.toEnvelope(placed) };
      try {
        return (await reach(asked.meta)).hub.call(name, placed, asked);
      } catch (error) {
        complain(error as Error);
        const { message } = error as Error;
        return { error: errors.toEnvelope(refuse('store.unavailable', message)) };
      }
    },
    mention: process.env.SOX_NO_PRESENCE
      ? null
      : async (...said) => (line.open === null ? false : (await reach()).hub.mention(...said)),
    ear: (hooks) => {
      let ear: ReturnType<typeof createResourceEar> | null = null;
      return {
        start() {
          reach().then(({ hub, options }) => {
            ear ??= createResourceEar(options, () => hub.address, hooks);
            ear.start();
          }, complain);
        },
        close: () => ear?.close(),
      };
    },
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
  (await line.open?.catch(() => null))?.hub.close();
}

const PLACED: ReadonlySet<string> = new Set(['claims_take', 'claims_check', 'claims_wait']);

/**
 * Paths without a worktree are meant from where the agent stands. A claim without paths is of the work
 * alone, or keeps what it has, and is left as it is: with a worktree it would be of all files.
 */
export function createPlacer(
  cwd: string,
): (name: string, input: unknown) => Promise<unknown | Refusal> {
  let known: Promise<Ground> | null = null;
  return async (name, input) => {
    if (!PLACED.has(name)) return input;
    const { worktree, branch, paths } = (input ?? {}) as Readonly<Record<string, unknown>>;
    if (worktree != null || !isNames(paths)) return input;
    // The worktree stays, but by the next claim another branch may be checked out.
    if (known === null || name === 'claims_take') known = groundAt(cwd);
    const ground = await known;
    const places = await Promise.all(paths.map((path) => placeOfPattern(ground, path)));
    const problem = places.find(isProblem);
    if (problem !== undefined) {
      const code = problem.problem === 'path.escapes' ? 'scope.escape' : 'input.invalid';
      return refuse(code, `${problem.message}; ${problem.remedy}, or say the worktree`);
    }
    const inside = places.flatMap((one) => (isProblem(one) ? [] : [one.path]));
    const isWhole = inside.includes('.');
    return {
      ...(input as object),
      worktree: ground.worktree,
      ...(name === 'claims_take' && { branch: branch ?? ground.repository?.branch ?? null }),
      paths: !isWhole ? inside : name === 'claims_check' ? ['**'] : [],
    };
  };
}

/** Where git cannot tell, the folder itself. */
async function groundAt(cwd: string): Promise<Ground> {
  const ground = await readGround(cwd);
  return isProblem(ground) ? { cwd, repository: null, worktree: await realpath(cwd) } : ground;
}

function isNames(paths: unknown): paths is readonly string[] {
  return Array.isArray(paths) && paths.length > 0 && paths.every((one) => typeof one === 'string');
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
