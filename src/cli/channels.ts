/** `synod channels …`: what is here; what a channel is for, and what is new in several. Without a verb it lists. */
import type { Command } from 'commander';
import { callHub, type SpokenInput } from '../client/node/call.ts';
import type { CallOutput } from '../client/operations.ts';
import { readJsonFile } from './body-input.ts';
import { type Call, handle } from './context.ts';
import { fail } from './failure.ts';
import { clockTime } from './message-text.ts';
import { parseWhole, seconds, whole } from './parse-value.ts';
import { PERSON_FLAG, type PersonFlags } from './person-flag.ts';
import { columns, jsonText, neutralise } from './terminal.ts';
import { headlineText, pagedText } from './thread-text.ts';

export function registerChannels(program: Command): void {
  const channels = program
    .command('channels')
    .description('list channels, say what one is for, see what is new in several');
  registerList(channels);
  registerDescribe(channels);
  registerDigest(channels);
}

function registerList(channels: Command): void {
  const command = channels
    .command('list', { isDefault: true })
    .description('channels and how many subscribe')
    .option('--details', 'also what each is for, the last message, and what you are owed');
  handle<{ details?: boolean }>(command, async ({ flags, call, table }) => {
    const answer = await call('channels.list_channels', { details: flags.details });
    table(
      answer,
      answer.channels.map((one) => [
        one.name,
        readersText(one.subscriber_count),
        ...(flags.details === true ? detailsOf(one) : []),
      ]),
      'no channels yet; one appears with its first message or subscriber',
    );
  });
}

function readersText(count: number): string {
  return `${count} subscriber${count === 1 ? '' : 's'}`;
}

type Channel = CallOutput<'channels.list_channels'>['channels'][number];

function detailsOf({ last_activity: last, owed = 0, title, description }: Channel): string[] {
  return [
    last == null ? '-' : clockTime(last),
    owed === 0 ? '-' : `${owed} unread`,
    title ?? (description ?? '').split('\n', 1)[0] ?? '',
  ];
}

interface DescribeFlags extends PersonFlags {
  readonly title?: string;
  readonly description?: string;
  readonly standing?: boolean;
  readonly types?: string;
  readonly tiers?: string;
  readonly postSchema?: string;
}

function registerDescribe(channels: Command): void {
  const command = channels
    .command('describe')
    .description("say what a channel is for and what its posts must be; '' takes a value away")
    .argument('<channel>', 'without options: shows what is said of it')
    .option('--title <text>', 'one line')
    .option('--description <text>', 'what it is for')
    .option('--standing', 'it stays although nobody uses it')
    .option('--no-standing', 'it may lapse')
    .option('--types <list>', 'the types a post may have: decision,question')
    .option('--tiers <list>', 'the tiers a post may have: 0,1')
    .option('--post-schema <file>', 'a JSON Schema for the bodies of posts')
    .option(...PERSON_FLAG);
  handle<DescribeFlags>(command, async ({ args, flags, call, target, show }) => {
    const [channel = ''] = args;
    const change = await changeOf(flags);
    if (Object.keys(change).length === 0) {
      const one = await readDescription(call, channel);
      show(one, () => describedLines(one));
      return;
    }
    const hub = { ...target(), isPerson: flags.person === true };
    const answer = await callHub(hub, 'channels.describe', { channel, ...change });
    show(answer, () => describedLines({ ...answer, name: channel }));
  });
}

/** An empty value is none. */
async function changeOf(
  flags: DescribeFlags,
): Promise<Omit<SpokenInput<'channels.describe'>, 'channel'>> {
  const { title, description, standing, types, tiers, postSchema } = flags;
  return {
    ...(title !== undefined && { title: title || null }),
    ...(description !== undefined && { description: description || null }),
    ...(standing !== undefined && { standing }),
    ...(types !== undefined && { types: types === '' ? null : types.split(',') }),
    ...(tiers !== undefined && {
      tiers: tiers === '' ? null : tiers.split(',').map((one) => parseWhole(one, '--tiers')),
    }),
    ...(postSchema !== undefined && { post_schema: await schemaOf(postSchema) }),
  };
}

async function schemaOf(path: string): Promise<Record<string, unknown> | null> {
  return path === '' ? null : ((await readJsonFile(path)) as Record<string, unknown>);
}

async function readDescription(call: Call, name: string): Promise<Channel> {
  const { channels } = await call('channels.list_channels', { channel: name });
  const [one] = channels;
  if (one !== undefined) return one;
  throw fail('cli.usage', `there is no channel ${neutralise(name)} that you may see`, {
    hint: 'see what there is with: synod channels',
  });
}

type Described = Pick<
  Channel,
  'name' | 'title' | 'description' | 'standing' | 'types' | 'tiers' | 'post_schema'
>;

function describedLines(one: Described): string[] {
  const { title, description, types = [], tiers = [], post_schema: schema } = one;
  const [first = '', ...more] = (description ?? '-').split(/\r?\n/).map(neutralise);
  return [
    ...columns([
      ['channel', one.name],
      ['title', title ?? '-'],
      ['standing', one.standing === true ? 'yes' : 'no'],
      ['types', types.length === 0 ? 'any' : types.join(', ')],
      ['tiers', tiers.join(', ') || 'none'],
      ['posts', schema == null ? 'free' : jsonText(schema)],
    ]),
    `about     ${first}`,
    ...more.map((line) => `  │ ${line}`),
  ];
}

interface DigestFlags {
  readonly view: string;
  readonly since?: number;
  readonly limit?: number;
}

function registerDigest(channels: Command): void {
  const command = channels
    .command('digest')
    .description('what is new in several channels, so much of each')
    .argument('[channels...]', 'default: those you follow, or else see')
    .option(
      '--view <view>',
      'headlines (threads, pinned first, closed last), recent (messages by time) or full',
      'headlines',
    )
    .option(...seconds('--since <time>', 'not older than this: 30m, 2h, 7d'))
    .option(...whole('--limit <n>', 'at most so many of each channel (5)'));
  handle<DigestFlags>(command, async ({ args, flags, call, show, remark, colours }) => {
    const { view, since, limit } = flags;
    const answer = await call('channels.digest', {
      ...{ view, limit },
      ...(args.length > 0 && { channels: [...args] }),
      ...(since !== undefined && { since: Date.now() / 1000 - since }),
    });
    const { rows, messages, channels_left_out: left } = answer;
    show(answer, () => [
      ...rows.map((row) => headlineText(row, colours)),
      ...messages.map((message) => pagedText(message, colours)),
    ]);
    if (rows.length + messages.length === 0) remark('nothing new');
    const more = answer.channels.filter((one) => one.more).map((one) => neutralise(one.channel));
    if (more.length > 0) remark(`there is more in ${more.join(', ')}`);
    if (left > 0) remark(`${left} channels are left out: name those you want`);
  });
}
