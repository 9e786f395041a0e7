/**
 * What is new on several channels at once, so much of each, so that a busy one pushes no other out
 * [TM11]; and what a channel is for.
 */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { ChannelView, Described, WorldView } from '../../../core/law/state.ts';
import type { View } from '../../../core/law/view.ts';
import { checkRead } from '../../../core/talk/channel.ts';
import { isShown, openFrom } from '../../../core/threads/thread-page.ts';
import type { TextMessage } from '../../../hub/message-store.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import {
  type channelsDescribe,
  type channelsDigest,
  DIGEST_CHANNELS_MAX,
} from '../../../wire/operations/threads.ts';
import { bodyText } from '../body.ts';
import { fitting, MESSAGE_PAGE_BYTES_MAX, pagedText, readMost } from '../message-page.ts';
import { onePage } from '../one-page.ts';
import { outputFromText } from '../output-text.ts';
import { checkedFor } from '../platform.ts';
import type { Handlers, Room } from '../room.ts';
import { headlines } from './threads.ts';

type Input = ParsedInputOf<typeof channelsDigest>;
type Output = OutputOf<typeof channelsDigest>;

/** What a digest reads of the log in all, in characters. */
const READ_CHARS_MAX = 8 * 1024 * 1024;
/** Messages passed over on one channel, because they wait for a person. */
const PASSED_MAX = 1_000;

export const digestHandlers: Handlers<'channels.digest' | 'channels.describe'> = {
  'channels.digest': digest,

  async 'channels.describe'({ hub, by, caller, platform: { schemas } }, input) {
    const { channel, title, description, standing, types, tiers } = input;
    const schema =
      input.post_schema == null ? input.post_schema : bodyText(input.post_schema, 'post_schema');
    if (schema != null && typeof schema !== 'string') return schema;
    const problem = schema == null ? null : schemas.problem(schema, checkedFor(caller));
    if (problem !== null && typeof problem !== 'string') return problem;
    if (problem !== null) {
      return refuse('input.invalid', `post_schema: ${problem}`, {
        violations: [{ field: 'post_schema', issue: problem }],
      });
    }
    const described = await hub.submit({
      type: 'channel.describe',
      by,
      at: hub.stamp(),
      channel,
      change: {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(standing !== undefined && { isStanding: standing }),
        ...(types !== undefined && { types: types ?? [] }),
        ...(tiers !== undefined && { tiers: tiers === null ? [0, 1, 2] : [...tiers].sort() }),
        ...(schema !== undefined && { postSchema: schema }),
      },
    });
    return isRefusal(described) ? described : describedView(channel, described);
  },
};

function describedView(
  channel: string,
  { title, description, isStanding, types, tiers, postSchema, by, at }: View<Described>,
): OutputOf<typeof channelsDescribe> {
  return {
    ...{ channel, title, description, standing: isStanding, types: [...types], tiers: [...tiers] },
    post_schema: postSchema === null ? null : (readJson(postSchema) as Record<string, unknown>),
    ...{ described_by: by, described_at: at / 1000 },
  };
}

/** What of a channel is shown, before it is read. */
interface Part {
  readonly channel: string;
  readonly title: string | null;
  readonly positions: readonly number[];
  readonly isMore: boolean;
}

async function digest(room: Room, input: Input): Promise<Output | Refusal> {
  const { hub, by } = room;
  const chosen = await hub.ask((world) => {
    const channels = chooseChannels(world, by, input.channels);
    if (isRefusal(channels)) return channels;
    const shown = channels.slice(0, DIGEST_CHANNELS_MAX);
    return {
      parts: shown.map((channel) => partOf(world, by, channel, input)),
      leftOut: channels.length - shown.length,
    };
  });
  if (isRefusal(chosen)) return chosen;
  const { parts, leftOut } = chosen;
  const read = await onePage(room, () => readParts(room, parts, input));
  const { channels, all } = read ?? { channels: [], all: [] };
  const { view } = input;
  if (view === 'full') {
    const texts = all.toReversed().map(pagedText);
    const tail = JSON.stringify({ channels, channels_left_out: leftOut });
    const text = `{"view":"full","rows":[],"messages":[${texts.join(',')}],${tail.slice(1)}`;
    return outputFromText<Output>(text, FIELDS);
  }
  const rows = await headlines(hub, all);
  if (isRefusal(rows)) return rows;
  return { view, rows, messages: [], channels, channels_left_out: leftOut };
}

interface ReadParts {
  readonly channels: Output['channels'];
  readonly all: readonly TextMessage[];
}

async function readParts(
  { hub, by }: Room,
  parts: readonly Part[],
  input: Input,
): Promise<ReadParts> {
  const share = 1 / Math.max(1, parts.length);
  const since = (input.since ?? 0) * 1000;
  const channels: Output['channels'] = [];
  const all: TextMessage[] = [];
  for (const { channel, title, positions, isMore } of parts) {
    const reading = { hub, agent: by.id };
    const { messages: read } = await readMost(reading, positions, READ_CHARS_MAX * share);
    const wanted = read.filter(({ at }) => at >= since);
    const bytes = MESSAGE_PAGE_BYTES_MAX * share * PART_OF_PAGE;
    const count = input.view === 'full' ? fitting(wanted.map(pagedText), bytes) : wanted.length;
    const isCut = read.length < positions.length || count < wanted.length;
    all.push(...wanted.slice(0, count));
    channels.push({ channel, title, shown: count, more: isMore || isCut });
  }
  if (input.view !== 'headlines') all.sort((a, b) => b.position - a.position);
  return { channels, all };
}

/** The rest is for what stands around the messages. */
const PART_OF_PAGE = 0.9;
const FIELDS = ['view', 'rows', 'messages', 'channels', 'channels_left_out'] as const;

/** Those that are named; else those the reader follows, or, of who follows none, all it may see. */
function chooseChannels(
  world: WorldView,
  by: Principal,
  names: readonly string[] | undefined,
): ChannelView[] | Refusal {
  if (names !== undefined) {
    const channels: ChannelView[] = [];
    for (const name of new Set(names)) {
      const forbidden = checkRead(world, by, name);
      if (forbidden !== null) return forbidden;
      const channel = world.channels.get(name);
      if (channel !== undefined) channels.push(channel);
    }
    return channels;
  }
  const followed = [...(world.agents.get(by.id)?.memberships.values() ?? [])];
  const seen =
    followed.length > 0
      ? followed.map(({ channel }) => channel)
      : [...world.channels.values()].filter(
          ({ kind, name }) => kind !== 'sox' && checkRead(world, by, name) === null,
        );
  return seen
    .filter(({ positions }) => positions.head > 0)
    .sort((a, b) => b.lastSentAt - a.lastSentAt || (a.name < b.name ? -1 : 1));
}

function partOf(world: WorldView, by: Principal, channel: ChannelView, input: Input): Part {
  const from = openFrom(world, by, channel);
  const { seqs, isMore } =
    input.view === 'headlines'
      ? newestThreads(channel, from, input.limit)
      : newestMessages(channel, from, input.limit);
  return {
    channel: channel.name,
    title: channel.described?.title ?? null,
    positions: seqs.map((seq) => channel.positions.at(seq)),
    isMore,
  };
}

interface Newest {
  readonly seqs: readonly number[];
  readonly isMore: boolean;
}

/** Pinned threads first, then open ones, closed ones last; each the newest first. */
function newestThreads(channel: ChannelView, from: number, limit: number): Newest {
  const { threads } = channel;
  if (threads === null) return { seqs: [], isMore: false };
  const look = { isMarked: false, limit: limit + 1, stepsMax: PASSED_MAX * 10 };
  const pinned = [...threads.pins.keys()]
    .filter((seq) => isShown(channel, seq, from))
    .sort((a, b) => b - a);
  const find = (isClosed: boolean): readonly number[] =>
    threads.find(Number.POSITIVE_INFINITY, {
      ...{ ...look, isMarked: isClosed },
      isWanted: (seq, marks) =>
        isShown(channel, seq, from) && !marks.isPinned && marks.isClosed === isClosed,
    }).seqs;
  const seqs = [...pinned, ...find(false)];
  if (seqs.length <= limit) seqs.push(...find(true));
  return { seqs: seqs.slice(0, limit), isMore: seqs.length > limit };
}

function newestMessages(channel: ChannelView, from: number, limit: number): Newest {
  const seqs: number[] = [];
  let passed = 0;
  for (let seq = channel.positions.head; seq >= Math.max(1, from); seq--) {
    if (seqs.length >= limit || passed > PASSED_MAX) return { seqs, isMore: true };
    if (isShown(channel, seq, from)) seqs.push(seq);
    else passed++;
  }
  return { seqs, isMore: false };
}
