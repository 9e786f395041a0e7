/** `synod receipts`: what became of a message, for each who was owed it. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { columns } from './terminal.ts';

interface Receipt {
  readonly agent_id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly at: number | null;
}

export function registerReceipts(program: Command): void {
  const command = program
    .command('receipts')
    .description('what became of a message, for each who was owed it')
    .argument('<message-id>');
  handle(command, async ({ args, call, show, remark }) => {
    const answer = await call('receipts_get', { message_id: args[0] });
    const receipts = answer.receipts as Receipt[];
    const time = (at: number | null) => (at === null ? '' : clockTime(at));
    show(answer, () =>
      columns(receipts.map((one) => [one.agent_id, one.state, time(one.at), one.reason ?? ''])),
    );
    if (receipts.length === 0) remark('nobody was owed this message');
  });
}
