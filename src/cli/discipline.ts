/**
 * `synod discipline`: the document that teaches an agent its manners; with `--vendor` as that vendor gets it,
 * with the true names of the tools: the skill, or with `--primer` the few lines that are always in context.
 */
import type { Command } from 'commander';
import { DISCIPLINE_DOCUMENT } from '../harness/discipline/document.ts';
import { renderDiscipline } from '../harness/discipline/render.ts';
import { isVendor, VENDORS } from '../wire/tool-names.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';

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
    if (!isVendor(vendor)) {
      throw fail('cli.usage', `--vendor must be one of ${VENDORS.join(', ')}; found ${vendor}`);
    }
    const rendered = renderDiscipline({ vendor });
    show(rendered, () => [(primer ? rendered.primer : rendered.skill).trimEnd()]);
  });
}
