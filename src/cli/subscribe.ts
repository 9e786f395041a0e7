/** `synod subscribe` and `synod unsubscribe`: what the hub owes you from now on, and what no longer. */
import type { Command } from 'commander';
import { handle } from './context.ts';

export function registerSubscribe(program: Command): void {
  const command = program
    .command('subscribe')
    .description('be owed what is sent from now on; lasts until you unsubscribe')
    .argument('<pattern>', 'a channel, or a glob such as "team/*"');
  handle(command, async ({ args, call, say }) => {
    const [pattern = ''] = args;
    const answer = await call('channels.subscribe', { pattern });
    const now = answer.subscribed.join(', ') || 'no such channel yet';
    say(answer, `subscribed to ${pattern} (${now})`);
  });
}

export function registerUnsubscribe(program: Command): void {
  const command = program
    .command('unsubscribe')
    .description('drop subscriptions; what they alone brought and you have not read is discarded')
    .argument('<pattern...>', 'as they were subscribed');
  handle(command, async ({ args, call, say }) => {
    const answer = await call('channels.unsubscribe', { channels: args });
    const { unsubscribed, pending_cleared: cleared } = answer;
    say(
      answer,
      unsubscribed.length === 0
        ? 'nothing to unsubscribe'
        : `unsubscribed from ${unsubscribed.join(', ')}; ${cleared} unread discarded`,
    );
  });
}
