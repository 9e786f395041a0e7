/** `synod channels`: what is here, and how many subscribe. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { columns } from './terminal.ts';

export function registerChannels(program: Command): void {
  const command = program.command('channels').description('list channels and how many subscribe');
  handle(command, async ({ call, show, remark }) => {
    const answer = await call('list_channels', {});
    const channels = answer.channels as { name: string; subscriber_count: number }[];
    show(answer, () => columns(channels.map((one) => [one.name, String(one.subscriber_count)])));
    if (channels.length === 0)
      remark('no channels yet; one appears with its first message or subscriber');
  });
}
