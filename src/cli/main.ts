/**
 * The command line: finds the command, loads its file, runs it, and turns whatever goes wrong into
 * one message and an exit code. Nothing here prints a stack trace.
 */
import type { Command, CommanderError } from 'commander';
import { nearest } from '../core/law/nearest.ts';
import { type CliError, fail, failureText, toFailure } from './failure.ts';
import { readPlain } from './plain-arguments.ts';
import {
  commandName,
  declareGlobals,
  findCommand,
  similarCommand,
  withoutFlagWord,
  withoutTransport,
} from './program.ts';

/** Commands whose last argument is a text, which people forget to quote. */
const TAKES_TEXT: ReadonlySet<string> = new Set(['send', 'tell', 'checkpoint', 'report', 'task']);

export async function main(argv: readonly string[]): Promise<void> {
  const isJson = argv.includes('--json');
  const report = (error: unknown): void => {
    const failure = toFailure(error);
    process.stderr.write(failureText(failure, isJson));
    process.exitCode = failure.exit;
  };
  // `synod … | head` is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 74);
  });
  process.on('uncaughtException', (error) => {
    report(error);
    process.exit();
  });
  try {
    await run(argv);
  } catch (error) {
    report(error);
  }
}

async function run(given: readonly string[]): Promise<void> {
  const argv = withoutTransport(withoutFlagWord(given));
  const name = commandName(argv);
  const command = name === null ? findCommand('serve') : findCommand(name);
  if (command === undefined) throw unknownCommand(name ?? '');
  const wantsVersion = argv.some((arg) => arg === '--version' || arg === '-V');
  // Help of the program itself must not become help of its default command, and its version needs none.
  const wantsHelp = argv.some((arg) => arg === '--help' || arg === '-h');
  const register = name === null && (wantsHelp || wantsVersion) ? null : await command.load();
  const declare = (program: Command): void => {
    declareGlobals(program);
    register?.(program);
  };
  const plain = readPlain(declare, argv);
  if (plain !== null) return plain.carryOut();
  const { createProgram } = await import('./full-program.ts');
  const version = wantsVersion ? await readVersion() : '';
  const program = createProgram(() => version);
  register?.(program);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const { code, message, exitCode } = error as CommanderError;
    if (code === 'commander.helpDisplayed') return;
    // Commander would show the whole help where a verb is missing.
    if (code === 'commander.help' && exitCode !== 0) throw missingVerb(program, name ?? '');
    if (code === 'commander.help') return;
    if (typeof code !== 'string' || !code.startsWith('commander.')) throw error;
    const isExcess = code === 'commander.excessArguments';
    const isSplit = isExcess && TAKES_TEXT.has(name ?? '');
    const misspelt = isExcess && !isSplit ? misspeltVerb(program, name ?? '', message) : null;
    if (misspelt !== null) throw misspelt;
    throw fail('cli.usage', message.replace(/^error: /, '').replaceAll('\n', ' '), {
      hint: isSplit
        ? 'a text of several words stands in quotes: "so, like this"'
        : `see: ${['synod', ...typedWords(program, argv), '--help'].join(' ')}`,
    });
  }
}

async function readVersion(): Promise<string> {
  return (await import('../server/run/version.ts')).packageVersion();
}

/** The command that was typed, with its verb where it has that. */
function typedWords(program: Command, argv: readonly string[]): string[] {
  const name = commandName(argv);
  if (name === null) return [];
  const verb = argv[argv.indexOf(name) + 1] ?? '';
  return verbsOf(program, name).includes(verb) ? [name, verb] : [name];
}

function verbsOf(program: Command, name: string): string[] {
  const command = program.commands.find((one) => one.name() === name);
  return command?.commands.map((one) => one.name()) ?? [];
}

/** Where one verb is meant when none is said, commander takes a misspelt one for an argument too many of that. */
function misspeltVerb(program: Command, name: string, message: string): CliError | null {
  const verbs = verbsOf(program, name);
  const word = / but got \d+: ([^,]*?)[,.]/.exec(message)?.[1];
  if (verbs.length === 0 || word === undefined || verbs.includes(word)) return null;
  const [similar] = nearest(word, verbs, 1);
  const said = `synod ${name} has no ${word}, but ${verbs.join(', ')}`;
  return fail('cli.usage', said, {
    hint:
      similar === undefined
        ? `see: synod ${name} --help`
        : `did you mean: synod ${name} ${similar}?`,
  });
}

function missingVerb(program: Command, name: string): CliError {
  const verbs = verbsOf(program, name);
  const which = verbs.length === 0 ? 'a verb' : `one of ${verbs.join(', ')}`;
  return fail('cli.usage', `synod ${name} wants ${which}`, { hint: `see: synod ${name} --help` });
}

function unknownCommand(name: string): CliError {
  if (/^\d+$/.test(name)) {
    const hint = `a flag is missing before it; npm wants two dashes: npm start -- --port ${name}`;
    return fail('cli.usage', `there is no command ${name}`, { hint });
  }
  const similar = similarCommand(name);
  return fail('cli.usage', `there is no command ${name}`, {
    hint: similar === undefined ? 'see: synod --help' : `did you mean ${similar}?`,
  });
}
