/**
 * `synod serve`, and plain `synod`: the hub in this process until Ctrl-C. With `--json` the first
 * line on stdout says that it is ready, and nothing else follows there; its log goes to stderr. With
 * a bus inside SIGHUP reads the bus's config again; a terminal that goes still ends the hub [BU25].
 */
import { closeSync, openSync } from 'node:fs';
import { inspect } from 'node:util';
import type { Command } from 'commander';
import type { Config } from '../server/run/config.ts';
import type { ServerLog } from '../server/run/server-log.ts';
import { shownStore } from '../server/run/store-url.ts';
import { type Context, handle } from './context.ts';
import { CliError, fail } from './failure.ts';
import { pathLine } from './on-path.ts';
import { addServeFlags, readConfig, type ServeOptions } from './serve-flags.ts';
import { synapseLine } from './synapse-line.ts';
import { jsonText, neutralise } from './terminal.ts';
import { holdYoungSpace } from './young-space.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const STOPPED_BY_SIGINT = 130;

export function registerServe(program: Command): void {
  const command = addServeFlags(
    program.command('serve', { isDefault: true }).description('run the hub here until Ctrl-C'),
  );
  handle<ServeOptions>(command, serve);
}

/** Of the space for the young: what is in flight fits, and a collection of it takes a millisecond or two. */
const YOUNG_MB = 32;

async function serve(context: Context<ServeOptions>): Promise<void> {
  const { flags, isJson, print } = context;
  const config = await readConfig(flags);
  const { startServer } = await import('../server/run/server.ts');
  const log = createLog(config.logLevel);
  const server = await startServer(config, { log }).catch(async (cause) => {
    throw (await runningAlready(cause, config)) ?? startFailure(cause, config);
  });
  holdYoungSpace(YOUNG_MB);
  // Whoever waited for the ready line may close the pipe behind it; the hub goes on.
  process.stdout.removeAllListeners('error').on('error', () => {});
  // Listening before anybody is told that it is ready: the first thing they do may be to stop it.
  const { url, pid, dir, socketPath, busPath } = server;
  const stopping = stopSignal(busPath === null ? null : () => void server.reloadBus());
  if (isJson) {
    const bus = busPath === null ? {} : { bus: busPath };
    const { synapseUrl, synapseTokenPath } = server;
    const token = synapseTokenPath === null ? {} : { synapse_token_file: synapseTokenPath };
    const synapse = synapseUrl === null ? {} : { synapse: synapseUrl, ...token };
    print(jsonText({ ready: true, url, pid, dir, socket: socketPath, ...bus, ...synapse }));
  } else {
    for (const line of firstScreen(context, url, dir, config.store)) print(line);
    if (busPath !== null) print(context.colours.dim(`  worker pools answer at ${busPath}\n`));
    if (server.synapseUrl !== null && config.synapse !== null) {
      const line = synapseLine(server.synapseUrl, dir, config.synapse);
      print(context.colours.dim(`  ${line}\n`));
    }
  }

  const signal = await stopping;
  if (!isJson && signal === 'SIGINT') print('\nstopping…');
  process.once('SIGINT', () => process.exit(STOPPED_BY_SIGINT));
  await server.close();
  process.exit(0);
}

function firstScreen(
  context: Context<ServeOptions>,
  url: string,
  dir: string,
  store: string | null,
): string[] {
  const { bold, dim } = context.colours;
  // What another terminal would find by itself need not be said.
  const where = context.flags.dir === undefined ? '' : ` --dir ${dir}`;
  return [
    '',
    `  ${bold('Synod')} is running at ${bold(url)}`,
    dim(`  everything is kept in ${dir}${store === null ? '' : ` and ${shownStore(store)}`}`),
    '',
    '  Next, in another terminal:',
    `    synod${where} subscribe team/plan --as ada           ${dim('ada will be owed what is said there')}`,
    `    synod${where} send team/plan "hello" --as bob        ${dim('bob says something')}`,
    `    synod${where} recv --as ada                          ${dim('ada reads it')}`,
    `    synod${where} web                                    ${dim('you see who does what, and what waits for you')}`,
    '',
    dim(`  Agents join over MCP: the command is "synod${where} mcp --as NAME", or ${url}/mcp`),
    dim('  Ctrl-C stops it; "synod up" runs it in the background.'),
    ...[pathLine(process.env)].flatMap((line) => (line === null ? [] : ['', `  ${line}`])),
    '',
  ];
}

export function createLog(least: string): ServerLog {
  const floor = LEVELS.indexOf(least);
  return (level, line, cause) => {
    if (LEVELS.indexOf(level) < floor) return;
    // An error is somebody's bug or the world's failure: its stack, and what caused it, belong to it.
    const why = level === 'error' ? inspect(cause) : errorMessage(cause);
    const text = cause === undefined ? line : `${line}: ${why}`;
    process.stderr.write(`${new Date().toISOString()} ${level} ${neutralise(text)}\n`);
  };
}

function errorMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function stopSignal(reload: (() => void) | null): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const hadTerminal = process.stdin.isTTY || process.stdout.isTTY;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  process.on('SIGHUP', () => {
    if (reload === null || (hadTerminal && !hasTerminal())) resolve('SIGHUP');
    else reload();
  });
  return promise;
}

/** One that was closed sends the same signal as somebody who wants a reload. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Most who are told that the directory is in use have forgotten a hub of their own. */
async function runningAlready(cause: unknown, { dir }: Config): Promise<CliError | null> {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  if (code !== 'log.locked' || !String(message).includes(`${dir} is in use`)) return null;
  const { findHub } = await import('../client/node/start-hub.ts');
  const hub = await findHub(dir);
  if (hub === null) return null;
  const since = / since (\S+)/.exec(String(message))?.[0] ?? '';
  const who = `process ${hub.pid}${since}`;
  return fail('log.locked', `a hub is running already at ${hub.url}, with ${dir} (${who})`, {
    hint: 'use that one; stop it with "synod down", or choose another directory with --dir',
    cause,
  });
}

/** What the operating system says about an address, in words. */
function startFailure(cause: unknown, { host, port: own, synapse }: Config): unknown {
  if (cause instanceof CliError) return cause;
  const { code, port = own } = cause as NodeJS.ErrnoException & { port?: number };
  const flag = port === synapse?.port && port !== own ? '--synapse' : '--port';
  if (code === 'EADDRINUSE') {
    const isBoth = port !== 0 && port === own && port === synapse?.port;
    const taker = isBoth ? 'wanted by both doors, or in use' : 'in use';
    return fail('hub.port-taken', `${host}:${port} is ${taker} by another program`, {
      hint: `stop it, or choose another with ${flag} (0 takes any)`,
      cause,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return fail('hub.address-unusable', `cannot listen on ${host}:${port} (${code})`, {
      hint: `choose another with --host and ${flag}`,
      cause,
    });
  }
  return cause;
}
