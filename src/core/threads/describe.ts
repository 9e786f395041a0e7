/**
 * What a channel is for: a title, a description, whether it stands although nobody uses it, and what
 * its posts must be [TM8]. Said by who made the channel, a person or an administrator. Chat and
 * replies are free; a post that was checked against a description that changed meanwhile is sent
 * again, as with a schema.
 */
import { type Asked, type Decision, type Refusal, refuse } from '../law/decider.ts';
import { checkShare, count } from '../law/shares.ts';
import type { Described, World, WorldView } from '../law/state.ts';
import { isLine, isProse } from '../law/text.ts';
import { checkWriter, invalid } from '../law/writer.ts';
import { channelOf, checkChannelRoom, checkName, checkWrite } from '../talk/channel.ts';
import {
  DESCRIPTION_CHARS_MAX,
  POST_SCHEMA_CHARS_MAX,
  POST_TYPE_CHARS_MAX,
  POST_TYPES_LIST_MAX,
  TITLE_CHARS_MAX,
} from './thread-limits.ts';

export interface DescribeChannel extends Asked {
  readonly type: 'channel.describe';
  readonly channel: string;
  readonly change: Partial<Omit<Described, 'version' | 'by' | 'at'>>;
}

export interface ChannelDescribed {
  readonly type: 'channel.described';
  readonly at: number;
  readonly by: string;
  readonly channel: string;
  readonly described: Described;
}

const UNDESCRIBED: Omit<Described, 'by' | 'at'> = {
  ...{ title: null, description: null, isStanding: false },
  ...{ types: [], tiers: [0, 1, 2], postSchema: null, version: 0 },
};

export function decideDescribe(
  world: WorldView,
  command: DescribeChannel,
): Decision<ChannelDescribed, Described> {
  const { by, at, channel: name, change } = command;
  const forbidden =
    checkName(world, name) ??
    checkWriter(by, world.settings) ??
    checkWrite(world, by, name) ??
    checkChannelRoom(world, by, name) ??
    checkText(change);
  if (forbidden !== null) return forbidden;
  const channel = world.channels.get(name);
  const isPerson = by.kind === 'human' || by.kind === 'admin';
  if (channel !== undefined && !isPerson && channel.madeBy !== by.id) {
    return refuse(
      'access.denied',
      `${name} is described by ${channel.madeBy ?? 'the hub'}, who made it, or a person`,
    );
  }
  const before = channel?.described ?? { ...UNDESCRIBED, by: by.id, at };
  const merged = { ...before, ...change };
  if (channel?.described != null && JSON.stringify(merged) === JSON.stringify(before)) {
    return { events: [], answer: before };
  }
  const version = ruleOf(merged) === ruleOf(before) ? before.version : before.version + 1;
  const described = { ...merged, version, by: by.id, at };
  const full = checkShareOf(world, by, channel?.described ?? null, described);
  if (full !== null) return full;
  return {
    events: [{ type: 'channel.described', at, by: by.id, channel: name, described }],
    answer: described,
  };
}

export function evolveDescribed(world: World, event: ChannelDescribed): void {
  const channel = channelOf(world, event.channel, event.by);
  countDescribed(world, channel.described, -1);
  channel.described = event.described;
  countDescribed(world, channel.described, 1);
}

/** For evolve and thawing: how much text of descriptions is whose [SH1]. */
export function countDescribed(world: World, described: Described | null, sign: 1 | -1): void {
  if (described !== null) count(world.made.described, described.by, sign * charsOf(described));
}

function charsOf({ title, description, types, postSchema }: Described): number {
  const texts = [title, description, postSchema, ...types];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 1);
}

function checkShareOf(
  world: WorldView,
  by: Asked['by'],
  before: Described | null,
  after: Described,
): Refusal | null {
  let total = 0;
  for (const chars of world.made.described.values()) total += chars;
  const freed = before === null ? 0 : charsOf(before);
  const mine = (world.made.described.get(by.id) ?? 0) - (before?.by === by.id ? freed : 0);
  return checkShare('DESCRIBED_CHARS_MAX', by, total - freed, mine, charsOf(after));
}

/** What posts are held to. */
function ruleOf({ types, tiers, postSchema }: Omit<Described, 'by' | 'at'>): string {
  return JSON.stringify([types, tiers, postSchema]);
}

function checkText({
  title,
  description,
  types,
  postSchema,
}: DescribeChannel['change']): Refusal | null {
  if (title != null && (title === '' || !isLine(title, TITLE_CHARS_MAX))) {
    return invalid(`title: one line of 1 to ${TITLE_CHARS_MAX} characters`);
  }
  if (description != null && !isProse(description, DESCRIPTION_CHARS_MAX)) {
    return invalid(
      `description: at most ${DESCRIPTION_CHARS_MAX} characters, and none that cannot be seen`,
    );
  }
  const areGood =
    types === undefined ||
    (types.length <= POST_TYPES_LIST_MAX &&
      new Set(types).size === types.length &&
      types.every((type) => type !== '' && isLine(type, POST_TYPE_CHARS_MAX)));
  if (!areGood) {
    return invalid(
      `types: at most ${POST_TYPES_LIST_MAX} different lines of 1 to ${POST_TYPE_CHARS_MAX} characters`,
    );
  }
  if (postSchema == null || postSchema.length <= POST_SCHEMA_CHARS_MAX) return null;
  return invalid(`post_schema: at most ${POST_SCHEMA_CHARS_MAX} characters of JSON`);
}
