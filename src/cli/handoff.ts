/** `synod handoff`: give a claim with its scope, status and checkpoint to somebody who is here. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { parseWhole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface HandoffFlags {
  readonly note?: string;
  readonly epoch?: string;
}

export function registerHandoff(program: Command): void {
  const command = program
    .command('handoff')
    .description('hand a claim to another agent that is here, with its checkpoint')
    .argument('<task>')
    .argument('<agent>')
    .option('--note <text>', 'what the next holder should know')
    .option('--epoch <n>', 'only if it is still that tenure');
  handle<HandoffFlags>(command, async ({ args, flags, call, show }) => {
    const [task = '', to = ''] = args;
    const epoch = flags.epoch === undefined ? undefined : parseWhole(flags.epoch, '--epoch');
    const answer = await call(
      'claims_handoff',
      given({ task_id: task, to, note: flags.note, epoch }),
    );
    show(answer, () => [neutralise(`handed ${task} to ${to}`)]);
  });
}
