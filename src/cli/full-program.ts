/**
 * The command line as commander sees it: the whole of it, with help and with what is said about mistakes.
 * What is plain is read without it (`plain-arguments.ts`).
 */
import { Command } from 'commander';
import { COMMAND_GROUPS } from './commands.ts';
import { declareGlobals, GLOBAL_OPTIONS } from './program.ts';

/** A program with its global options and no commands yet; it throws instead of exiting. */
export function createProgram(version: () => string): Command {
  const program = new Command('synod');
  declareGlobals(program);
  program
    .option('-V, --version', 'say which version this is')
    .on('option:version', () => {
      process.stdout.write(`${version()}\n`);
      process.exit(0);
    })
    .helpOption('-h, --help', 'say how it is used')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: () => {} })
    .exitOverride();
  program.helpInformation = rootHelp;
  return program;
}

function rootHelp(): string {
  const lines = [
    'Synod, the coordination hub for AI agents',
    '',
    'Usage: synod [command] [options]',
    '',
  ];
  for (const { heading, commands } of COMMAND_GROUPS) {
    lines.push(`${heading}:`);
    for (const { name, usage, summary } of commands.filter((one) => one.isDaily)) {
      lines.push(`  ${`${name} ${usage}`.padEnd(22)}  ${summary}`);
    }
    const rarer = commands.filter((one) => !one.isDaily);
    lines.push(...alsoLines(rarer.map(({ name }) => name)));
  }
  lines.push('Options:');
  for (const [flags, text] of GLOBAL_OPTIONS) lines.push(`  ${flags.padEnd(16)}  ${text}`);
  lines.push('synod COMMAND --help says more.', '');
  return lines.join('\n');
}

const WIDTH = 80;

/** Names without a word about each, on as many lines as it takes. */
function alsoLines(names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = '';
  for (const name of names) {
    const longer = line === '' ? `  also: ${name}` : `${line}, ${name}`;
    if (longer.length <= WIDTH) line = longer;
    else {
      lines.push(line);
      line = `  also: ${name}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}
