/** `synod tell`: a private message to an agent, several, a project, a role, a glob, or all. */
import type { Command } from 'commander';
import { bodyOf } from './body-input.ts';
import { handle } from './context.ts';
import { duration } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface TellFlags {
  readonly body?: string;
  readonly replyTo?: string;
  readonly correlationId?: string;
  readonly ttl?: number;
}

export function registerTell(program: Command): void {
  const command = program
    .command('tell')
    .description('tell agents in private')
    .argument('<target>', 'a name, several with commas, a project, role:<role>, a glob, or all')
    .argument('[text]', 'sent as {"text": …}; - reads it from standard input')
    .option('--body <json>', 'a JSON object instead of a text; - reads it from standard input')
    .option('--reply-to <id>', 'the message this answers')
    .option('--correlation-id <id>', 'what it is about')
    .option(...duration('--ttl <time>', 'seconds, or 5m, 2h, 7d: not read by then, it expires'));
  handle<TellFlags>(command, async ({ args, flags, call, table, remark }) => {
    const [target = '', text] = args;
    const answer = await call('agents.tell', {
      to: target.includes(',') ? target.split(',').filter((name) => name !== '') : target,
      body: await bodyOf(text, flags.body),
      reply_to: flags.replyTo,
      correlation_id: flags.correlationId,
      ttl_ms: flags.ttl,
    });
    const { recipients, unmatched } = answer;
    table(
      answer,
      recipients.map((one) => [`told ${one.agent_id}`, `[${one.message_id}]`]),
    );
    if (unmatched.length > 0) remark(neutralise(`nobody answers to ${unmatched.join(', ')}`));
  });
}
