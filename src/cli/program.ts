/**
 * The command line before anybody has read it: the global options, and which command an argument list
 * asks for. Global options count before and after the command.
 */
import type { Command } from 'commander';
import { nearest } from '../core/law/nearest.ts';
import { COMMANDS, type CommandEntry } from './commands.ts';

export const GLOBAL_OPTIONS: readonly (readonly [flags: string, text: string])[] = [
  ['--as <name>', 'the agent to be (SYNOD_AGENT, SOX_AGENT_ID, or your name)'],
  ['--space <name>', 'the space to be in (SOX_NAMESPACE, or default)'],
  ['--url <url>', 'the hub (SYNOD_URL, or the one of the data directory)'],
  ['--token <token>', 'the credential (SYNOD_TOKEN, or the owner’s)'],
  ['--dir <dir>', 'the data directory (SYNOD_DIR, or ~/.synod)'],
  ['--json', 'one JSON document, or one a line; errors as JSON on stderr'],
];

const VALUE_FLAGS: ReadonlySet<string> = new Set(
  GLOBAL_OPTIONS.filter(([flags]) => flags.includes('<')).map(
    ([flags]) => flags.split(' ')[0] as string,
  ),
);

export function declareGlobals(program: Command): void {
  for (const [flags, text] of GLOBAL_OPTIONS) program.option(flags, text);
}

/** The word that names the command, or null when there is none: then it is `serve`. */
export function commandName(argv: readonly string[]): string | null {
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--') return null;
    if (!arg.startsWith('-')) return arg;
    // Flags of serve may stand without its name, and their values are no commands either.
    if (VALUE_FLAGS.has(arg) || SERVE_VALUE_FLAGS.has(arg)) i++;
  }
  return null;
}

const FLAG_WORDS: ReadonlySet<string> = new Set(['help', 'version']);

/** `synod help send` is `synod send --help`; `synod help` and `synod version` are flags as well. */
export function withoutFlagWord(argv: readonly string[]): readonly string[] {
  const word = commandName(argv) ?? '';
  if (!FLAG_WORDS.has(word)) return argv;
  const at = argv.indexOf(word);
  return [...argv.slice(0, at), ...argv.slice(at + 1), `--${word}`];
}

/** SOX's `serve --transport http` is `serve`, and `serve --transport stdio` is `mcp` with its tools. */
export function withoutTransport(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('serve');
  if (commandName(argv) !== 'serve' || at < 0) return argv;
  const flag = argv.findIndex((arg) => /^--transport(=|$)/.test(arg));
  const [, joined] = /^--transport=(.*)$/.exec(argv[flag] ?? '') ?? [];
  const transport = joined ?? argv[flag + 1];
  if (flag < 0 || (transport !== 'http' && transport !== 'stdio')) return argv;
  const rest = argv.toSpliced(flag, joined === undefined ? 2 : 1);
  return transport === 'http'
    ? rest
    : rest.toSpliced(rest.indexOf('serve'), 1, 'mcp', '--tools', 'sox');
}

const SERVE_VALUE_FLAGS: ReadonlySet<string> = new Set([
  '--host',
  '--port',
  '--store',
  '--auth',
  '--config',
  '--cors-origin',
  '--allow-host',
  '--log-level',
  '--allow-plugins',
  '--relay',
  '--relay-lines',
  '--synapse-relay',
  '--mirror',
  '--bus',
  '--synapse-token',
  '--otlp',
  '--server-name',
  '--telemetry-file',
]);

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((command) => command.name === name);
}

/** The command somebody may have meant: same start, or the same letters but for one or two. */
export function similarCommand(name: string): string | undefined {
  const names = COMMANDS.map((command) => command.name);
  return nearest(name, names, 1)[0];
}
