/**
 * `synod discipline`: the document that teaches an agent its manners; with `--vendor` as that vendor gets it,
 * with the true names of the tools. `synod lint-discipline`: does such a document keep to the form? Every
 * fault with its line; exit code 1 when there is one or the file cannot be read, as with SOX.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DISCIPLINE_DOCUMENT } from '../harness/discipline/document.ts';
import { lintDiscipline } from '../harness/discipline/lint.ts';
import { renderDiscipline } from '../harness/discipline/render.ts';
import { handle } from './context.ts';
import { CliError, fail, TROUBLE_EXIT } from './failure.ts';
import { neutralise } from './terminal.ts';
import { parseVendor } from './vendor.ts';

interface DisciplineFlags {
  readonly vendor?: string;
  readonly primer?: boolean;
}

export function registerDiscipline(program: Command): void {
  const command = program
    .command('discipline')
    .description('print what agents are taught')
    .option('--vendor <name>', 'as the skill of claude, codex, gemini or opencode')
    .option('--primer', 'with it: the few lines that are always in context');
  handle<DisciplineFlags>(command, ({ flags, show }) => {
    const { vendor, primer } = flags;
    if (vendor === undefined) {
      if (primer) throw fail('cli.usage', '--primer goes with --vendor');
      return show({ document: DISCIPLINE_DOCUMENT }, () => [DISCIPLINE_DOCUMENT.trimEnd()]);
    }
    const rendered = renderDiscipline({ vendor: parseVendor(vendor, '--vendor') });
    show(rendered, () => [(primer ? rendered.primer : rendered.skill).trimEnd()]);
  });
}

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
