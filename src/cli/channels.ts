/** `synod channels`: what is here, and how many subscribe. */
import type { Command } from 'commander';
import { handle } from './context.ts';

export function registerChannels(program: Command): void {
  const command = program.command('channels').description('list channels and how many subscribe');
  handle(command, async ({ call, table }) => {
    const answer = await call('channels.list_channels', {});
    table(
      answer,
      answer.channels.map((one) => [one.name, readersText(one.subscriber_count)]),
      'no channels yet; one appears with its first message or subscriber',
    );
  });
}

function readersText(count: number): string {
  return `${count} subscriber${count === 1 ? '' : 's'}`;
}
