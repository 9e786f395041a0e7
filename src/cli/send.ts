/** `synod send`: one message to one channel. Plain text becomes `{"text": …}`; `-` reads standard input. */
import type { Command } from 'commander';
import { callHub } from '../client/node/call.ts';
import { bodyOf } from './body-input.ts';
import { collect, handle } from './context.ts';
import { fail } from './failure.ts';
import { duration, whole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface SendFlags {
  readonly body?: string;
  readonly replyTo?: string;
  readonly quote?: boolean;
  readonly reopen?: boolean;
  readonly post?: boolean;
  readonly title?: string;
  readonly type?: string;
  readonly tier?: number;
  readonly owner?: readonly string[];
  readonly correlationId?: string;
  readonly idempotencyKey?: string;
  readonly ttl?: number;
  readonly person?: boolean;
}

export function registerSend(program: Command): void {
  const command = program
    .command('send')
    .description('send a message to a channel')
    .argument('<channel>', 'such as ticket:42, dm/<a>~<b> or group/<id>')
    .argument('[text]', 'sent as {"text": …}; - reads it from standard input')
    .option(
      '--body <json>',
      'a JSON object to send instead of a text; - reads it from standard input',
    )
    .option('--reply-to <id>', 'the message this answers')
    .option('--quote', 'with --reply-to: a link to it from another channel, in no thread with it')
    .option('--reopen', 'with --reply-to: opens its thread again, if it is closed')
    .option('--post', 'a post: it begins a thread, and has to be what the channel asks of posts')
    .option('--title <text>', 'of a post')
    .option('--type <type>', 'of a post, one of those of the channel')
    .option(...whole('--tier <n>', 'of a post: 0, 1 or 2'))
    .option('--owner <agent>', 'of a post: may mark its thread too; may be repeated', collect)
    .option('--correlation-id <id>', 'what it is about')
    .option('--idempotency-key <key>', 'sent twice with one key, it is stored once')
    .option(
      '--person',
      'you are a person, and no agent: what you say frees agents that wait for one',
    )
    .option(...duration('--ttl <time>', 'seconds, or 5m, 2h, 7d: not read by then, it expires'));
  handle<SendFlags>(command, async ({ args, flags, target, show, remark, colours }) => {
    const [channel = '', text] = args;
    if (flags.replyTo === undefined && (flags.quote === true || flags.reopen === true)) {
      throw fail(
        'cli.usage',
        '--quote and --reopen are of a reply: say to what with --reply-to ID',
      );
    }
    const hub = { ...target(), isPerson: flags.person === true };
    const sent = await callHub(hub, 'channels.send', {
      channel,
      body: await bodyOfMessage(text, flags),
      reply_to: flags.replyTo,
      quote: flags.quote,
      reopen: flags.reopen,
      correlation_id: flags.correlationId,
      idempotency_key: flags.idempotencyKey,
      ttl_ms: flags.ttl,
    });
    const { queue_depth: depth, threshold, state } = sent.backpressure;
    if (state !== 'ok')
      remark(`${neutralise(channel)} has ${depth} unread messages (limit ${threshold})`);
    const gate = sent.metadata?.gate_id;
    if (gate !== undefined) remark(`it is held until a person decides on ${gate}: synod gates`);
    show(sent, () => [
      `sent ${colours.place(`${neutralise(channel)} #${sent.seq}`)} ${colours.dim(`[${sent.message_id}]`)}`,
    ]);
  });
}

/** A post has its fields beside the text, and may have no text. */
async function bodyOfMessage(
  text: string | undefined,
  flags: SendFlags,
): Promise<Record<string, unknown>> {
  const { post, title, type, tier, owner: owners } = flags;
  const fields = Object.entries({ title, type, tier, owners }).filter(
    ([, one]) => one !== undefined,
  );
  if (post !== true) {
    if (fields.length === 0) return bodyOf(text, flags.body);
    throw fail('cli.usage', '--title, --type, --tier and --owner are of a post: say --post too');
  }
  const isTitle = title !== undefined && text === undefined && flags.body === undefined;
  const said = isTitle ? {} : await bodyOf(text, flags.body);
  return { ...said, kind: 'post', ...Object.fromEntries(fields) };
}
