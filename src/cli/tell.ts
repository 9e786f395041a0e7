/** `synod tell`: a private message to an agent, several, a project, a role, a glob, or all. */
import type { Command } from 'commander';
import { bodyOf } from './body-input.ts';
import { given, handle } from './context.ts';
import { parseDurationMs } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

interface TellFlags {
  readonly body?: string;
  readonly replyTo?: string;
  readonly correlationId?: string;
  readonly ttl?: string;
}

interface Told {
  readonly recipients: readonly { readonly agent_id: string; readonly message_id: string }[];
  readonly unmatched: readonly string[];
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
    .option('--ttl <time>', 'seconds, or 5m, 2h, 7d: not read by then, it expires');
  handle<TellFlags>(command, async ({ args, flags, call, show, remark }) => {
    const [target = '', text] = args;
    const input = given({
      to: target.includes(',') ? target.split(',').filter((name) => name !== '') : target,
      body: await bodyOf(text, flags.body),
      reply_to: flags.replyTo,
      correlation_id: flags.correlationId,
      ttl_ms: flags.ttl === undefined ? undefined : parseDurationMs(flags.ttl, '--ttl'),
    });
    const answer = await call('agents_tell', input);
    const { recipients, unmatched } = answer as unknown as Told;
    show(answer, () =>
      columns(recipients.map((one) => [`told ${one.agent_id}`, `[${one.message_id}]`])),
    );
    if (unmatched.length > 0) remark(neutralise(`nobody answers to ${unmatched.join(', ')}`));
  });
}
