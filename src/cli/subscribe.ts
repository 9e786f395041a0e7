/** `synod subscribe`: what the hub owes you from now on. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { neutralise } from './terminal.ts';

export function registerSubscribe(program: Command): void {
  const command = program
    .command('subscribe')
    .description('be owed what is sent from now on; lasts until you unsubscribe')
    .argument('<pattern>', 'a channel, or a glob such as "team/*"');
  handle(command, async ({ args, call, show }) => {
    const [pattern = ''] = args;
    const answer = await call('subscribe', { pattern });
    const matched = answer.subscribed as string[];
    const now = matched.length === 0 ? 'no such channel yet' : matched.map(neutralise).join(', ');
    show(answer, () => [`subscribed to ${neutralise(pattern)} (${now})`]);
  });
}
