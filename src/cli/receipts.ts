/** `synod receipts` and `synod ack`: what became of a message, and what the sender is told of it. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';

export function registerReceipts(program: Command): void {
  const command = program
    .command('receipts')
    .description('what became of a message, for each who was owed it')
    .argument('<message-id>');
  handle(command, async ({ args, call, table }) => {
    const [id = ''] = args;
    const answer = await call('receipts.get', { message_id: id });
    const time = (at: number | null) => (at === null ? '' : clockTime(at));
    table(
      answer,
      answer.receipts.map((one) => [one.agent_id, one.state, time(one.at), one.reason ?? '']),
      'nobody was owed this message',
    );
  });
}

export function registerAck(program: Command): void {
  const command = program
    .command('ack')
    .description('tell the sender what you did with a message')
    .argument('<message-id>')
    .argument('<status>', 'received, processing, done or nack')
    .option('--reason <text>', 'why, above all with nack');
  handle<{ reason?: string }>(command, async ({ args, flags, call, say }) => {
    const [id = '', status = ''] = args;
    const { reason } = flags;
    const answer = await call('channels.ack', { message_id: id, status, reason });
    say(answer, `acked ${answer.message_id}: ${answer.status}`);
  });
}
