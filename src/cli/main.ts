/**
 * The command line: finds the command, loads its file, runs it, and turns whatever goes wrong into
 * one message and an exit code. Nothing here prints a stack trace.
 */
import type { Command, CommanderError } from 'commander';
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
    const isSplit = code === 'commander.excessArguments' && TAKES_TEXT.has(name ?? '');
    throw fail('cli.usage', message.replace(/^error: /, '').replaceAll('\n', ' '), {
      hint: isSplit
        ? 'a text of several words stands in quotes: "so, like this"'
        : `see: synod ${name ?? ''}${name === null ? '' : ' '}--help`,
    });
  }
}

async function readVersion(): Promise<string> {
  return (await import('../server/run/version.ts')).packageVersion();
}

function missingVerb(program: Command, name: string): CliError {
  const verbs = program.commands
    .find((one) => one.name() === name)
    ?.commands.map((one) => one.name());
  const which = verbs === undefined || verbs.length === 0 ? 'a verb' : `one of ${verbs.join(', ')}`;
  return fail('cli.usage', `synod ${name} wants ${which}`, { hint: `see: synod ${name} --help` });
}

function unknownCommand(name: string): CliError {
  const similar = similarCommand(name);
  return fail('cli.usage', `there is no command ${name}`, {
    hint: similar === undefined ? 'see: synod --help' : `did you mean ${similar}?`,
  });
}
