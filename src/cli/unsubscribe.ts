/** `synod unsubscribe`: what the hub owes you no longer. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { neutralise } from './terminal.ts';

export function registerUnsubscribe(program: Command): void {
  const command = program
    .command('unsubscribe')
    .description('drop subscriptions; what they alone brought and you have not read is discarded')
    .argument('<pattern...>', 'as they were subscribed');
  handle(command, async ({ args, call, show }) => {
    const answer = await call('unsubscribe', { channels: args });
    const dropped = answer.unsubscribed as string[];
    show(answer, () => [
      dropped.length === 0
        ? 'nothing to unsubscribe'
        : `unsubscribed from ${dropped.map(neutralise).join(', ')}; ${answer.pending_cleared} unread discarded`,
    ]);
  });
}
