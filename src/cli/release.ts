/** `synod release`: give a claim back, with evidence of what became of it. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { parseWhole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface ReleaseFlags {
  readonly evidence?: string;
  readonly epoch?: string;
  readonly force?: boolean;
}

export function registerRelease(program: Command): void {
  const command = program
    .command('release')
    .description('give a claim back; whoever waits is told')
    .argument('<task>')
    .option('--evidence <text>', 'what came of it: a commit, a link, a sentence')
    .option('--epoch <n>', 'only if it is still that tenure')
    .option('--force', 'the claim of somebody else; for administrators');
  handle<ReleaseFlags>(command, async ({ args, flags, call, show }) => {
    const answer = await call(
      'claims_release',
      given({
        task_id: args[0],
        evidence: flags.evidence,
        epoch: flags.epoch === undefined ? undefined : parseWhole(flags.epoch, '--epoch'),
        force: flags.force,
      }),
    );
    show(answer, () => [neutralise(`released ${args[0]}, held by ${answer.was_owner}`)]);
  });
}
