/** `synod recv`: drains the inbox, and can wait for mail or take it on lease. */
import type { Command } from 'commander';
import { collect, handle } from './context.ts';
import { clockTime, messageText } from './message-text.ts';
import { waitForMail } from './outlast.ts';
import { duration, whole } from './parse-value.ts';

interface RecvFlags {
  readonly channel?: readonly string[];
  readonly max?: number;
  readonly wait?: number;
  readonly lease?: number;
  readonly threadDepth?: number;
}

export function registerRecv(program: Command): void {
  const command = program
    .command('recv')
    .description('take what is owed to you, each message once')
    .option('--channel <name>', 'only this channel; may be repeated', collect)
    .option(...whole('--max <n>', 'at most so many messages (50)'))
    .option(...duration('--wait <time>', 'wait so many seconds for the first message'))
    .option(...duration('--lease <time>', 'comes back after so many seconds unless acked'))
    .option(...whole('--thread-depth <n>', 'how many ancestors to show; -1 for all'));
  handle<RecvFlags>(command, async ({ flags, call, show, remark, colours }) => {
    const input = {
      channels: flags.channel,
      max_messages: flags.max,
      lease_ms: flags.lease,
      thread_depth: flags.threadDepth,
    };
    const drained = await (flags.wait === undefined
      ? call('channels.recv', input)
      : waitForMail({ call, remark }, input, Date.now() + flags.wait));
    show(drained, () => drained.messages.map((message) => messageText(message, colours)));
    if (drained.messages.length === 0) remark('no messages');
    else if (drained.lease_until !== undefined) {
      remark(`on lease until ${clockTime(drained.lease_until)}; then: synod ack MESSAGE_ID done`);
    }
  });
}
