/** `synod route`: which agent is best for a piece of work, and why. Exit code 21 when there is none. */
import type { Command } from 'commander';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { columns, neutralise } from './terminal.ts';

/** As everything that is not found leaves. */
const NOBODY_EXIT = 21;

export function registerRoute(program: Command): void {
  const command = program
    .command('route')
    .description('the best available agent for a piece of work, and why')
    .argument('[text]', 'what is to be done')
    .option('--class <name>', 'the class of the task')
    .option('--skill <id>', 'what the agent must be able to; may be repeated', collect);
  handle<{ class?: string; skill?: string[] }>(command, async ({ args, flags, call, show }) => {
    const [text] = args;
    if (text === undefined && flags.class === undefined && flags.skill === undefined) {
      throw fail('cli.usage', 'say what is to be done: a text, --class or --skill');
    }
    const answer = await call('cards.route', { text, class: flags.class, skills: flags.skill });
    const { chosen, runners_up: others, why } = answer;
    show(answer, () =>
      chosen === null
        ? [neutralise(why)]
        : columns([chosen, ...others].map((one) => [one.agent_id, one.availability, one.why])),
    );
    if (chosen === null) process.exitCode = NOBODY_EXIT;
  });
}
