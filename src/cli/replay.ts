/** `synod replay`: reads a channel again, and takes nothing from any inbox. */
import type { Command } from 'commander';
import { given, handle } from './context.ts';
import { type Message, messageText } from './message-text.ts';
import { parseWhole } from './parse-value.ts';

interface ReplayFlags {
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
}

export function registerReplay(program: Command): void {
  const command = program
    .command('replay')
    .description('read a channel again; takes nothing from any inbox')
    .argument('<channel>')
    .option('--since <seq>', 'from this number on (0)')
    .option('--until <seq>', 'up to this number')
    .option('--limit <n>', 'at most so many (100)');
  handle<ReplayFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const number = (flag: keyof ReplayFlags) =>
      flags[flag] === undefined ? undefined : parseWhole(flags[flag], `--${flag}`);
    const input = given({
      channel: args[0],
      since: number('since'),
      until: number('until'),
      limit: number('limit'),
    });
    const answer = await call('replay', input);
    const messages = answer.messages as Message[];
    show(answer, () => messages.map((message) => messageText(message, colours)));
    const last = messages.at(-1);
    if (last === undefined) remark('no messages');
    else if (answer.has_more === true) remark(`there is more: --since ${last.seq + 1}`);
  });
}
