/** The flags of `serve`, which `up` and plain `synod` take too, and the config file they name. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { dataDirectory } from '../client/node/target.ts';
import { readJson } from '../core/law/json.ts';
import type { Config, ConfigInput, ConfigProblem } from '../server/run/config.ts';
import type { ServeFlags } from '../server/run/config-sources.ts';
import { collect } from './context.ts';
import { fail } from './failure.ts';

export interface ServeOptions extends ServeFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export function addServeFlags(command: Command): Command {
  return command
    .option('--host <address>', 'where to listen (127.0.0.1)')
    .option('--port <n>', 'where to listen (8765); 0 takes any free port')
    .option(
      '--store <url>',
      'memory:, file:///dir, sqlite:///path, nats://HOST:PORT/PREFIX or npm:PACKAGE (files under the data directory)',
    )
    .option('--server-name <name>', 'one of several servers that share a store at nats://')
    .option(
      '--auth <mode>',
      'local: owner and tokens; open: names at their word, loopback only (local)',
    )
    .option(
      '--config <file>',
      'a JSON file of settings (config.json of the data directory); flags and variables win over it',
    )
    .option('--cors-origin <origin>', 'web pages of this origin may call; may be repeated', collect)
    .option('--allow-host <name>', 'another name this hub is reached by; may be repeated', collect)
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--no-socket', 'no Unix socket')
    .option('--synapse [port]', 'a door for Synapse 0.43 clients (8876)')
    .option(
      '--synapse-token <secret>',
      'they must show it, 8 characters or more (made into the data directory); none asks for none',
    )
    .option('--relay <file>', 'append public messages and claim events there, a line each')
    .option('--relay-lines <n>', 'lines a relay file keeps (5000)')
    .option(
      '--synapse-relay <file>',
      'the same for `synapse relay` and `syn inbox`, directed chat too',
    )
    .option('--mirror <folder>', 'append all that is said there, a JSONL file for each channel')
    .option('--bus <file>', 'run the worker pools of this config behind bus.sock, on the record')
    .option('--metrics [token]', 'Prometheus at /metrics, for this token or the usual credential')
    .option('--otlp <url>', 'tell an OpenTelemetry collector there what is done, without bodies')
    .option('--telemetry-file <file>', 'append the same there, a line of JSON each')
    .option('--allow-plugins <ids>', 'load these plugins, comma-separated, and no others')
    .option('--discovery [folder]', 'load plugins from the node_modules of this folder (here)')
    .option('--no-discovery', 'look for no plugins in node_modules')
    .option('--skip-mismatched-plugins', 'leave out plugins of another protocol version');
}

/** The hub stands in its data directory: what was meant from here is said in full. */
export function placedFlags(
  flags: ServeOptions,
  { relay, synapseRelay, mirror, bus, plugins, telemetry }: Config,
): ServeOptions {
  return {
    ...flags,
    ...(flags.config !== undefined && { config: resolve(flags.config) }),
    ...(relay !== null && { relay: relay.path }),
    ...(synapseRelay !== null && { synapseRelay: synapseRelay.path }),
    ...(mirror !== null && { mirror }),
    ...(bus !== null && { bus }),
    ...(plugins.from !== null && { discovery: plugins.from }),
    ...(telemetry?.file != null && { telemetryFile: telemetry.file }),
  };
}

export async function readConfig(options: ServeOptions): Promise<Config> {
  const { parseConfig } = await import('../server/run/config.ts');
  return judged<Config>(parseConfig(readConfigInput(options)), options);
}

/** What the world says about the configuration, before anybody has judged it. */
export function readConfigInput(options: ServeOptions): ConfigInput {
  const own = join(dataDirectory(options.dir, process.env), 'config.json');
  const path = options.config ?? (existsSync(own) ? own : undefined);
  const file = path === undefined ? undefined : readConfigFile(path);
  return { flags: options, env: process.env, file, home: homedir(), cwd: process.cwd() };
}

/** What was asked for; every problem of it is thrown at once. */
export function judged<T extends object>(
  parsed: T | readonly ConfigProblem[],
  options: ServeOptions,
): T {
  if (!Array.isArray(parsed)) return parsed as T;
  const problems = parsed as readonly ConfigProblem[];
  const lines = problems.map(
    ({ field, source, message }) => `${field} (${placeOf(source, options)}): ${message}`,
  );
  throw fail(problems[0]?.code ?? 'config.invalid', lines.join('; '), { detail: { problems } });
}

function placeOf(source: string, options: ServeOptions): string {
  const places: Record<string, string> = {
    flag: 'a flag',
    env: 'the environment',
    file: options.config ?? 'config.json of the data directory',
  };
  return places[source] ?? source;
}

function readConfigFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw fail('cli.no-input', `the config file ${path} cannot be read (${code})`, { cause });
  }
  try {
    return readJson(text);
  } catch (cause) {
    throw fail('config.invalid', `${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}
