/** `synod recv`: drains the inbox, and can wait for mail or take it on lease. */
import type { Command } from 'commander';
import { collect, given, handle } from './context.ts';
import { clockTime, type Message, messageText } from './message-text.ts';
import { parseDurationMs, parseWhole } from './parse-value.ts';

interface RecvFlags {
  readonly channel?: readonly string[];
  readonly max?: string;
  readonly wait?: string;
  readonly lease?: string;
  readonly threadDepth?: string;
}

interface Drained {
  readonly messages: readonly Message[];
  readonly lease_until?: number;
}

export function registerRecv(program: Command): void {
  const command = program
    .command('recv')
    .description('take what is owed to you, each message once')
    .option('--channel <name>', 'only this channel; may be repeated', collect)
    .option('--max <n>', 'at most so many messages (50)')
    .option('--wait <time>', 'wait so many seconds for the first message')
    .option('--lease <time>', 'comes back after so many seconds unless acked')
    .option('--thread-depth <n>', 'how many ancestors to show; -1 for all');
  handle<RecvFlags>(command, async ({ flags, call, show, remark, colours }) => {
    const waitMs = flags.wait === undefined ? undefined : parseDurationMs(flags.wait, '--wait');
    const input = given({
      channels: flags.channel,
      max_messages: flags.max === undefined ? undefined : parseWhole(flags.max, '--max'),
      wait_ms: waitMs,
      lease_ms: flags.lease === undefined ? undefined : parseDurationMs(flags.lease, '--lease'),
      thread_depth:
        flags.threadDepth === undefined
          ? undefined
          : parseWhole(flags.threadDepth, '--thread-depth'),
    });
    const drained = (await call('recv', input, waitMs)) as unknown as Drained;
    show(drained, () => drained.messages.map((message) => messageText(message, colours)));
    if (drained.messages.length === 0) remark('no messages');
    else if (drained.lease_until !== undefined) {
      remark(`on lease until ${clockTime(drained.lease_until)}; then: synod ack MESSAGE_ID done`);
    }
  });
}
