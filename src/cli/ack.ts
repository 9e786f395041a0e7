/** `synod ack`: tells the sender what was done with a message. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';

export function registerAck(program: Command): void {
  const command = program
    .command('ack')
    .description('tell the sender what you did with a message')
    .argument('<message-id>')
    .argument('<status>', 'received, processing, done or nack')
    .option('--reason <text>', 'why, above all with nack');
  handle<{ reason?: string }>(command, async ({ args, flags, call, show }) => {
    const [id = '', status = ''] = args;
    const answer = await call(
      'channels_ack',
      given({ message_id: id, status, reason: flags.reason }),
    );
    show(answer, () => [`acked ${answer.message_id}: ${answer.status}`]);
  });
}
