/**
 * `synod tail`: messages as they come, without taking them from any inbox. A broken connection is
 * taken up again after the last message shown, so nothing is missed and nothing shown twice.
 */
import type { Command } from 'commander';
import type { ReceiptChange } from '../client/index.ts';
import { follow } from '../client/node/follow.ts';
import { handle } from './context.ts';
import { clockTime, messageText } from './message-text.ts';
import { parseStart } from './parse-value.ts';
import { jsonText, neutralise } from './terminal.ts';

export function registerTail(program: Command): void {
  const command = program
    .command('tail')
    .description('show messages as they come; takes nothing from any inbox')
    .argument('[pattern...]', 'channels or globs; left out: what you subscribe to')
    .option('--from <place>', 'now, inbox (what you are owed first) or after a position', 'now')
    .option('--receipts', 'also what becomes of your own messages');
  handle<{ from: string; receipts?: boolean }>(command, async (context) => {
    const { args, flags, target, isJson, print, remark, colours } = context;
    const stream = follow(target, {
      from: parseStart(flags.from),
      channels: args,
      withReceipts: flags.receipts === true,
      onOpen: (isAgain) =>
        remark(colours.dim(isAgain ? 'the hub is back; following' : 'following; Ctrl-C stops')),
      onLost: () => remark('the hub is gone; waiting for it to come back'),
    });
    for await (const item of stream) {
      if (isJson) print(jsonText('message' in item ? item.message : item));
      else
        print('message' in item ? messageText(item.message, colours) : receiptText(item.receipt));
    }
  });
}

function receiptText({
  message_id: id,
  agent_id: agent,
  state,
  reason,
  at,
}: ReceiptChange): string {
  const why = reason ? ` (${reason})` : '';
  return neutralise(`${clockTime(Number(at))} receipt ${id}: ${agent} ${state}${why}`);
}
