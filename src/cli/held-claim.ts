/** What the holder of a claim does with it: `synod release`, `synod checkpoint`, `synod handoff`. */
import type { Command } from 'commander';
import { textOf } from './body-input.ts';
import { handle } from './context.ts';
import { whole } from './parse-value.ts';

/** A claim that was lost and taken again meanwhile is another one. */
export const EPOCH_OPTION: ReturnType<typeof whole> = whole(
  '--epoch <n>',
  'only if it is still that tenure',
);

interface ReleaseFlags {
  readonly evidence?: string;
  readonly epoch?: number;
  readonly force?: boolean;
}

export function registerRelease(program: Command): void {
  const command = program
    .command('release')
    .description('give a claim back; whoever waits is told')
    .argument('<task>')
    .option('--evidence <text>', 'what came of it: a commit, a link, a sentence')
    .option(...EPOCH_OPTION)
    .option('--force', 'the claim of somebody else; for administrators');
  handle<ReleaseFlags>(command, async ({ args, flags, call, say }) => {
    const [task = ''] = args;
    const { evidence, epoch, force } = flags;
    const answer = await call('claims.release', { task_id: task, evidence, epoch, force });
    // The owner of a claim knows that; who took it from somebody wants to see from whom.
    say(answer, `released ${task}${force ? `, which ${answer.was_owner} held` : ''}`);
  });
}

export function registerCheckpoint(program: Command): void {
  const command = program
    .command('checkpoint')
    .description('keep where you are with a claim; whoever holds it next gets it')
    .argument('<task>')
    .argument('<text>', '- reads it from standard input')
    .option(...EPOCH_OPTION);
  handle<{ epoch?: number }>(command, async ({ args, flags, call, say }) => {
    const [task = '', text = ''] = args;
    const input = { task_id: task, checkpoint: await textOf(text), epoch: flags.epoch };
    const answer = await call('claims.checkpoint', input);
    say(answer, `kept for ${task}, version ${answer.claim.version}`);
  });
}

export function registerHandoff(program: Command): void {
  const command = program
    .command('handoff')
    .description(
      'offer a claim to another agent that is here, with its checkpoint; to yourself: take it back',
    )
    .argument('<task>')
    .argument('<agent>')
    .option('--note <text>', 'what the next holder should know')
    .option(...EPOCH_OPTION);
  handle<{ note?: string; epoch?: number }>(command, async ({ args, flags, call, say }) => {
    const [task = '', to = ''] = args;
    const { note, epoch } = flags;
    const answer = await call('claims.handoff', { task_id: task, to, note, epoch });
    const { offered_to: offered } = answer.claim;
    say(
      answer,
      offered === null
        ? `${task} is offered to nobody now`
        : `offered ${task} to ${offered}, who takes it with: synod claim ${task}`,
    );
  });
}
