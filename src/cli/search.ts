/** `synod search`: messages by their words, the newest first, with the part in which they were found. */
import type { Command } from 'commander';
import type { OutputOf } from '../wire/operation.ts';
import type { searchMessages } from '../wire/operations/search.ts';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { addPageFlags, type PageFlags, seconds } from './parse-value.ts';
import { type Colours, neutralise } from './terminal.ts';

interface SearchFlags extends PageFlags {
  readonly channel?: string;
  readonly from?: string;
  readonly since?: number;
  readonly until?: number;
}

type Found = OutputOf<typeof searchMessages>['messages'][number];

export function registerSearch(program: Command): void {
  const command = program
    .command('search')
    .description(
      'find messages you may read: words, "phrases", beginnings*, -without (after --), from:NAME, in:CHANNEL',
    )
    .argument('<query...>')
    .option('--channel <name>', 'only there, as in:NAME')
    .option('--from <agent>', 'only what it said, as from:AGENT')
    .option(...seconds('--since <time>', 'not older than this: 30m, 2h, 7d'))
    .option(...seconds('--until <time>', 'older than this'));
  addPageFlags(command);
  handle<SearchFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const { channel, from: author, since, until, limit, after } = flags;
    const now = Date.now() / 1000;
    const answer = await call('search.messages', {
      ...{ query: args.join(' '), channel, author, limit, after },
      ...(since !== undefined && { since: now - since }),
      ...(until !== undefined && { until: now - until }),
    });
    show(answer, () => answer.messages.map((message) => foundText(message, colours)));
    if (answer.messages.length === 0) remark('nothing found');
    if (answer.next !== null) remark(`there is more: --after ${answer.next}`);
    if (!answer.complete) remark('the index is still being built: there may be more');
  });
}

function foundText(message: Found, colours: Colours): string {
  const { channel, seq, sender, sent_at, message_id } = message;
  return [
    colours.dim(clockTime(sent_at)),
    colours.place(`${neutralise(channel)} #${seq}`),
    `${colours.name(neutralise(sender))}:`,
    neutralise(message.excerpt.replace(/\s+/g, ' ').trim()),
    colours.dim(`[${neutralise(message_id)}]`),
  ].join(' ');
}
