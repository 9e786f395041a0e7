/** `synod send`: one message to one channel. Plain text becomes `{"text": …}`; `-` reads standard input. */
import type { Command } from 'commander';
import { callHub } from '../client/node/call.ts';
import { bodyOf } from './body-input.ts';
import { handle } from './context.ts';
import { duration } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface SendFlags {
  readonly body?: string;
  readonly replyTo?: string;
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
    .option('--correlation-id <id>', 'what it is about')
    .option('--idempotency-key <key>', 'sent twice with one key, it is stored once')
    .option(
      '--person',
      'you are a person, and no agent: what you say frees agents that wait for one',
    )
    .option(...duration('--ttl <time>', 'seconds, or 5m, 2h, 7d: not read by then, it expires'));
  handle<SendFlags>(command, async ({ args, flags, target, show, remark, colours }) => {
    const [channel = '', text] = args;
    const hub = { ...target(), isPerson: flags.person === true };
    const sent = await callHub(hub, 'channels.send', {
      channel,
      body: await bodyOf(text, flags.body),
      reply_to: flags.replyTo,
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
