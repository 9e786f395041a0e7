/** `synod checkpoint`: keep where you are with a claim; the next holder gets it. */
import type { Command } from 'commander';
import { textOf } from './body-input.ts';
import { given, handle } from './context.ts';
import { parseWhole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

export function registerCheckpoint(program: Command): void {
  const command = program
    .command('checkpoint')
    .description('keep where you are with a claim; whoever holds it next gets it')
    .argument('<task>')
    .argument('<text>', '- reads it from standard input')
    .option('--epoch <n>', 'only if it is still that tenure');
  handle<{ epoch?: string }>(command, async ({ args, flags, call, show }) => {
    const [task = '', text = ''] = args;
    const epoch = flags.epoch === undefined ? undefined : parseWhole(flags.epoch, '--epoch');
    const checkpoint = await textOf(text);
    const answer = await call('claims_checkpoint', given({ task_id: task, checkpoint, epoch }));
    const { version } = answer.claim as { version: number };
    show(answer, () => [`kept for ${neutralise(task)}, version ${version}`]);
  });
}
