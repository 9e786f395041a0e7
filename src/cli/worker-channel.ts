/**
 * `synod worker … --on CHANNEL`: a worker as an agent of a hub. It subscribes, shows what it can do on
 * its card, and answers until a signal; what it has not answered by then is owed to it still.
 */
import { matchesGlob } from 'node:path';
import type { Command } from 'commander';
import { type AnswerText, answerOnChannel, type Heard } from '../bus/programs/channel-worker.ts';
import type { ChatOptions } from '../bus/programs/openai.ts';
import type { Message } from '../client/index.ts';
import { chosenAgent, type Globals } from '../client/node/target.ts';
import { plainText } from '../wire/body-text.ts';
import { collect } from './context.ts';
import { fail } from './failure.ts';
import { openClient } from './open-client.ts';
import { duration, whole } from './parse-value.ts';
import { neutralise } from './terminal.ts';

export interface ChannelFlags extends Globals {
  readonly on?: readonly string[];
  readonly answer?: string;
  readonly every?: number;
  readonly context?: number;
  readonly maxChars?: number;
  readonly hourly?: number;
  readonly taskClass?: readonly string[];
}

/** What a worker says belongs to this, so that no other worker answers it. */
const ABOUT_PREFIX = 'worker:';
const HUB = '__server__';
const EVERY_MS = 700;
const CONTEXT_MESSAGES = 8;
const CONTEXT_MESSAGES_MAX = 200;
const ANSWER_CHARS = 2_000;
const ANSWER_CHARS_MAX = 100_000;
const HOURLY = 120;
const HOURLY_MAX = 10_000;

export function addChannelFlags(command: Command): void {
  command
    .option('--on <channel>', 'answer on this channel of the hub; may be repeated', collect)
    .option('--answer <which>', 'named: what names or addresses it; all: everything there (named)')
    .option(...duration('--every <time>', 'at least so long between two answers (700ms)'))
    .option(...whole('--context <n>', 'so many messages before it are shown to the model (8)'))
    .option(...whole('--max-chars <n>', 'an answer is cut to so many characters (2000)'))
    .option(...whole('--hourly <n>', 'answers an hour for one sender (120)'))
    .option('--task-class <name>', 'what its card says it is for (chat); may be repeated', collect);
}

export interface ChannelWorker {
  readonly kind: string;
  readonly model: string | null;
  /** Where what is said goes to; null when it stays on this machine. */
  readonly leavesTo: string | null;
  readonly answer: AnswerText;
}

export async function answerOn(flags: ChannelFlags, worker: ChannelWorker): Promise<void> {
  const { on = [], answer = 'named' } = flags;
  if (answer !== 'named' && answer !== 'all') {
    throw fail('cli.usage', `--answer is named or all; found ${answer}`);
  }
  const contextMax = bounded(
    '--context',
    flags.context ?? CONTEXT_MESSAGES,
    0,
    CONTEXT_MESSAGES_MAX,
  );
  const charsMax = bounded('--max-chars', flags.maxChars ?? ANSWER_CHARS, 1, ANSWER_CHARS_MAX);
  const hourlyMax = bounded('--hourly', flags.hourly ?? HOURLY, 1, HOURLY_MAX);
  const hasToken = Boolean(flags.token ?? process.env.SYNOD_TOKEN);
  // Without a name it is called as what it is, never as the person who started it.
  const globals = hasToken || chosenAgent(flags) !== null ? flags : { ...flags, as: worker.kind };
  const note = (text: string): void =>
    void process.stderr.write(`synod worker ${worker.kind}: ${neutralise(text)}\n`);
  const client = await openClient(globals, false);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  try {
    const { agent_id: name } = await client.whoami();
    for (const channel of on) await client.subscribeTo(channel);
    await client.call('cards.advertise', { card: cardOf(worker, flags.taskClass ?? ['chat']) });
    const stopPresence = client.keepPresence('online', {
      onError: (error) => note(`presence: ${error.message}`),
    });
    note(`answers on ${on.join(', ')} as ${name}; Ctrl-C stops`);
    if (worker.leavesTo !== null) note(`what is said there is sent to ${worker.leavesTo}`);
    const about = `${ABOUT_PREFIX}${name}`.slice(0, 128);
    await answerOnChannel(
      worker.answer,
      heard(client.messages({ from: 'inbox', signal: stop.signal })),
      {
        note,
        async reply({ channel, id }, text) {
          const to = { channel, message_id: id };
          // Answered once, also when we died between the answer and the reading of the next message.
          const options = { idempotency_key: `answer:${id}`, correlation_id: about };
          const { message_id: own } = await client.reply(to, { text }, options);
          await client.ack(id, 'done');
          return own;
        },
        refuse: async ({ id }, reason) => void (await client.ack(id, 'nack', reason)),
      },
      {
        name,
        answersAll: (channel) =>
          answer === 'all' && on.some((one) => one === channel || matchesGlob(channel, one)),
        contextMax,
        answerCharsMax: charsMax,
        everyMs: flags.every ?? EVERY_MS,
        hourlyMax,
      },
      stop.signal,
    );
    stopPresence();
  } finally {
    await client.close();
  }
}

async function* heard(messages: AsyncIterable<Message>): AsyncGenerator<Heard> {
  for await (const { message_id: id, channel, sender, body, ...more } of messages) {
    if (more.dropped === true) continue;
    const isWorker = more.correlation_id?.startsWith(ABOUT_PREFIX) === true;
    yield {
      ...{ id, channel, sender, text: plainText(body), replyTo: more.reply_to ?? null },
      origin: sender === HUB ? 'hub' : isWorker ? 'worker' : 'agent',
      isDirect: channel.startsWith('dm/'),
    };
  }
}

function cardOf(
  { kind, model }: ChannelWorker,
  taskClasses: readonly string[],
): Record<string, unknown> {
  const description = model === null ? `answers, by ${kind}` : `answers, by ${kind} with ${model}`;
  return { description, task_classes: taskClasses, ...(model !== null && { model }) };
}

function bounded(flag: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  throw fail('cli.usage', `${flag} is from ${min} to ${max}; found ${value}`);
}

/** A model that was told nothing else is told where it is. */
export function onChannel(chat: ChatOptions): ChatOptions {
  const systemPrompt =
    chat.systemPrompt ??
    'You are one of several agents and people on a channel. Lines that begin with a name are what ' +
      'others said before. Answer the last message, in a few plain sentences.';
  return { ...chat, systemPrompt };
}
