/** `synod replay`: reads a channel again, and takes nothing from any inbox. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { messageText } from './message-text.ts';
import { whole } from './parse-value.ts';

interface ReplayFlags {
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
}

export function registerReplay(program: Command): void {
  const command = program
    .command('replay')
    .description('read a channel again; takes nothing from any inbox')
    .argument('<channel>')
    .option(...whole('--since <seq>', 'from this number on (0)'))
    .option(...whole('--until <seq>', 'up to this number'))
    .option(...whole('--limit <n>', 'at most so many (100)'));
  handle<ReplayFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const [channel = ''] = args;
    const { since, until, limit } = flags;
    const answer = await call('channels.replay', { channel, since, until, limit });
    show(answer, () => answer.messages.map((message) => messageText(message, colours)));
    const last = answer.messages.at(-1);
    if (last === undefined) remark('no messages');
    else if (answer.has_more) remark(`there is more: --since ${last.seq + 1}`);
  });
}
