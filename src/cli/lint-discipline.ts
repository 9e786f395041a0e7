/**
 * `synod lint-discipline`: does a discipline document keep to the form? Every fault with its line and what
 * to do; exit code 0 when there is none, 1 otherwise, also when the file cannot be read, as with SOX.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { lintDiscipline } from '../harness/discipline/lint.ts';
import { handle } from './context.ts';
import { CliError } from './failure.ts';
import { neutralise } from './terminal.ts';

const TROUBLE_EXIT = 1;

export function registerLintDiscipline(program: Command): void {
  const command = program
    .command('lint-discipline')
    .description('does a discipline document keep to the form; exit code 1 if not')
    .argument('<path>', 'the document');
  handle(command, ({ args, show }) => {
    const [path = ''] = args;
    const findings = lintDiscipline(readDocument(path));
    show({ path, ok: findings.length === 0, findings }, () =>
      findings.length === 0
        ? [neutralise(`${path}: as it should be`)]
        : findings.map(({ rule, line, message }) =>
            neutralise(`${path}:${line === 0 ? '' : `${line}:`} ${message} (${rule})`),
          ),
    );
    if (findings.length > 0) process.exitCode = TROUBLE_EXIT;
  });
}

function readDocument(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw unreadable(path, cause as NodeJS.ErrnoException);
  }
}

function unreadable(path: string, cause: NodeJS.ErrnoException): CliError {
  const why =
    cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`;
  const hint = 'name the document, or print ours with: synod discipline';
  const envelope = { error_code: 'cli.no-input', message: `${path}: ${why}`, detail: { hint } };
  return new CliError(envelope, { code: 'cli.no-input', exit: TROUBLE_EXIT, hint }, cause);
}
