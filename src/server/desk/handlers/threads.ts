/**
 * Threads at the desk. Which messages a thread has is in memory, what they say is in the log; so is the
 * history of its marks, each of which names the one before it.
 */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { ChannelView, WorldView } from '../../../core/law/state.ts';
import { utf8Bytes } from '../../../core/law/text.ts';
import { channelWith } from '../../../core/talk/channel.ts';
import { messageId, parseMessageId } from '../../../core/talk/message-id.ts';
import { type RootRef, retiredUnder, type ThreadMarked, told } from '../../../core/threads/mark.ts';
import { rootSeq, seqOn } from '../../../core/threads/reply.ts';
import { type ThreadMarks, UNMARKED } from '../../../core/threads/thread-index.ts';
import {
  hiddenReplies,
  isShown,
  openFrom,
  repliesAfter,
  threadsPage,
} from '../../../core/threads/thread-page.ts';
import type { Hub } from '../../../hub/hub.ts';
import type { Message, MessageHead, TextMessage } from '../../../hub/message-store.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { threadsGet, threadsList, threadsMark } from '../../../wire/operations/threads.ts';
import { headOf, ownersOf } from '../../../wire/post.ts';
import { messageEnvelope, standingFields } from '../envelope.ts';
import { idempotencyOf } from '../idempotency.ts';
import { fitting, MESSAGE_PAGE_BYTES_MAX, pagedText, readMost, readSome } from '../message-page.ts';
import { onePage } from '../one-page.ts';
import { outputFromText } from '../output-text.ts';
import type { Handlers, Room } from '../room.ts';
import { findHead, findMessage, isWithheld, mayRead, mayRecall, refOf } from './message-lookup.ts';

type ThreadView = OutputOf<typeof threadsMark>['thread'];
type Headline = OutputOf<typeof threadsList>['threads'][number];

/** Marks of a page, and what they are at the most in bytes. */
const MARKS_PAGE_MAX = 50;
const MARKS_BYTES_MAX = 128 * 1024;
/** Roots that are looked at for an author or a type by one call. */
const LOOKED_AT_MAX = 500;

export const threadHandlers: Handlers<
  'messages.get' | 'threads.get' | 'threads.list' | 'threads.mark'
> = {
  async 'messages.get'(room, { message_id: id }) {
    const message = await findMessage(room, id, 'message_id', mayShow);
    if (isRefusal(message)) return message;
    const about = await room.hub.ask((world) => ({
      isHeld: isWithheld(world, message),
      thread: threadId(world, message),
    }));
    if (isRefusal(about)) return about;
    return {
      message: {
        ...messageEnvelope(message),
        ...standingFields(message),
        ...(message.quote && { quote: true as const }),
        ...(about.isHeld && { held: true as const }),
      },
      thread_id: about.thread,
    };
  },

  async 'threads.get'(room, input) {
    const { hub, by } = room;
    const message = await findHead(room, input.message_id, 'message_id', mayShow);
    if (isRefusal(message)) return message;
    const page = await hub.ask((world) => pageOf(world, by, message, input.after, input.limit));
    if (isRefusal(page)) return page;
    const { root, replies } = (await onePage(room, () => readThread(room, page))) ?? NOTHING_READ;
    const thread = await threadView(hub, page);
    const marks = await marksBefore(hub, page, input.marks_before ?? page.marks.last);
    if (isRefusal(marks)) return marks;
    const head =
      `{"thread":${JSON.stringify(thread)},"root":${root === null ? null : pagedText(root)},` +
      `"marks":${JSON.stringify(marks.views)},"marks_next":${marks.next},"replies":[`;
    const texts = replies.map(pagedText);
    const count = fitting(texts, MESSAGE_PAGE_BYTES_MAX - utf8Bytes(head) - TAIL_BYTES);
    const last = replies[count - 1]?.position;
    const isWhole = count === page.replies.length;
    const next = isWhole ? page.next : (last ?? page.next);
    const text = `${head}${texts.slice(0, count).join(',')}],"next":${next === null ? null : JSON.stringify(messageId(next))}}`;
    return outputFromText<OutputOf<typeof threadsGet>>(text, GET_FIELDS);
  },

  async 'threads.mark'(room, input) {
    const { hub, by, platform } = room;
    const root = await findRoot(room, input.message_id, 'message_id');
    if (isRefusal(root)) return root;
    const answer = await hub.submit({
      type: 'thread.mark',
      by,
      at: hub.stamp(),
      root,
      mark: input.mark,
      note: input.note ?? null,
      expectedVersion: input.expected_version ?? null,
      idempotency: idempotencyOf(platform, input),
    });
    if (isRefusal(answer)) return answer;
    const about = await hub.ask((world) => {
      const channel = channelWith(world, root);
      return channel === undefined ? retiredUnder(root) : aboutThread(channel, root.seq);
    });
    if (isRefusal(about)) return about;
    // What the caller's own mark came to, whatever was said since.
    const thread = await threadView(hub, { ...about, marks: answer.marks });
    return { thread, changed: answer.isChanged };
  },

  async 'threads.list'(room, { channel = null, state = null, author, type, after, limit }) {
    const { hub, by } = room;
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : parseMessageId(after);
    if (before === null) return unknownCursor('after');
    const isLooking = author !== undefined || type !== undefined;
    const page = await hub.ask((world) => {
      const query = { channel, state, before, limit: isLooking ? LOOKED_AT_MAX : limit };
      return threadsPage(world, by, query);
    });
    if (isRefusal(page)) return page;
    const { messages: read } = await readSome(
      room,
      page.places.map(({ position }) => position),
    );
    const rows = await headlines(hub, read);
    if (isRefusal(rows)) return rows;
    const isWanted = (row: Headline): boolean =>
      (author === undefined || row.sender === author) && (type === undefined || row.type === type);
    const wanted: Headline[] = [];
    let last: string | null = null;
    for (const row of rows) {
      if (wanted.length >= limit) break;
      last = row.message_id;
      if (isWanted(row)) wanted.push(row);
    }
    const isAll = rows.length === page.places.length && last === (rows.at(-1)?.message_id ?? null);
    const next = isAll ? (page.next === null ? null : messageId(page.next)) : last;
    return { threads: wanted, next };
  },
};

const TAIL_BYTES = 64;
const GET_FIELDS = ['thread', 'root', 'marks', 'marks_next', 'replies', 'next'] as const;

/** A message that may be named and was said to the reader, or whose past is open to it [RP3]. */
function mayShow(world: WorldView, by: Principal, message: MessageHead): boolean {
  return mayRead(world, by, message) && mayRecall(world, by, message);
}

/** Null when its channel was retired: the threads went with it. */
function threadId(world: WorldView, message: MessageHead): string | null {
  const channel = channelWith(world, message);
  return channel === undefined
    ? null
    : messageId(channel.positions.at(rootSeq(channel, message.seq)));
}

/** The root of a message's thread, for who may read both. */
export async function findRoot(room: Room, id: string, field: string): Promise<RootRef | Refusal> {
  const message = await findMessage(room, id, field, mayShow);
  if (isRefusal(message)) return message;
  const root = await room.hub.ask((world) => ({ id: threadId(world, message) }));
  if (isRefusal(root)) return root;
  if (root.id === null) return retiredUnder(refOf(message));
  const found: Message | Refusal =
    root.id === messageId(message.position)
      ? message
      : await findMessage(room, root.id, field, mayShow);
  return isRefusal(found) ? found : { ...refOf(found), owners: ownersOf(found.body) };
}

/** The mark that closed a thread; null when it is open, or its channel is gone. */
export async function closingOf({ hub }: Room, id: string): Promise<ThreadMarked | null> {
  const [root] = await hub.messages([parseMessageId(id) ?? -1]);
  const found = await hub.ask((world) => {
    const channel = root ? channelWith(world, root) : undefined;
    return { closing: channel?.threads?.marksOf(root?.seq ?? 0).closing ?? null };
  });
  if (isRefusal(found) || found.closing === null) return null;
  const [event] = await hub.eventsAt([found.closing]);
  return event?.type === 'thread.marked' ? event : null;
}

interface About {
  readonly thread_id: string;
  readonly channel: string;
  readonly position: number;
  readonly marks: ThreadMarks;
  readonly reply_count: number;
}

function aboutThread(channel: ChannelView, root: number): About {
  const position = channel.positions.at(root);
  const { threads } = channel;
  return {
    ...{ thread_id: messageId(position), channel: channel.name, position },
    marks: threads?.marksOf(root) ?? UNMARKED,
    reply_count: (threads?.countOf(root) ?? 0) - (hiddenReplies(channel).get(root) ?? 0),
  };
}

interface PageOf extends About {
  /** Null when it is not for the reader. */
  readonly root: number | null;
  readonly replies: readonly number[];
  readonly next: number | null;
}

function pageOf(
  world: WorldView,
  by: Principal,
  message: MessageHead,
  after: string | undefined,
  limit: number,
): PageOf | Refusal {
  const channel = channelWith(world, message);
  if (channel === undefined) return retiredUnder(refOf(message));
  const seq = rootSeq(channel, message.seq);
  const start = after === undefined ? seq : seqOn(channel, parseMessageId(after) ?? -1);
  if (start === 0 || rootSeq(channel, start) !== seq) return unknownCursor('after');
  const from = openFrom(world, by, channel);
  const { seqs, next } = repliesAfter(channel, start, { from, limit });
  const at = (one: number): number => channel.positions.at(one);
  // What the reader was shown to ask by is shown; so is what everybody may read.
  const isRootShown = seq === message.seq || isShown(channel, seq, from);
  return {
    ...aboutThread(channel, seq),
    root: isRootShown ? at(seq) : null,
    replies: seqs.map(at),
    next: next === 0 ? null : at(next),
  };
}

interface ReadThread {
  readonly root: TextMessage | null;
  readonly replies: readonly TextMessage[];
}

const NOTHING_READ: ReadThread = { root: null, replies: [] };

async function readThread({ hub, by }: Room, page: PageOf): Promise<ReadThread> {
  const [root = null] = page.root === null ? [] : await hub.messageTexts([page.root]);
  const { messages } = await readMost({ hub, agent: by.id }, page.replies);
  return { root, replies: messages };
}

function unknownCursor(field: string): Refusal {
  return refuse('input.invalid', `${field}: use the value of next that a page gave`, {
    violations: [{ field, issue: 'is of no page of this' }],
  });
}

async function threadView(hub: Hub, about: About): Promise<ThreadView> {
  const { thread_id, channel, marks, reply_count } = about;
  const [closing] = marks.closing === null ? [] : await hub.eventsAt([marks.closing]);
  const isMark = closing?.type === 'thread.marked';
  return {
    ...{ thread_id, channel, ...told(marks) },
    closed: isMark ? { by: closing.by, at: closing.at / 1000, note: closing.note } : null,
    reply_count,
  };
}

/** The marks of a thread from one on, back in time; each names the one before it. */
async function marksBefore(
  hub: Hub,
  { position: root }: About,
  from: number | null,
): Promise<{ views: ReturnType<typeof markView>[]; next: number | null } | Refusal> {
  const views: ReturnType<typeof markView>[] = [];
  let bytes = 0;
  let next = from;
  while (next !== null && views.length < MARKS_PAGE_MAX) {
    const [event] = await hub.eventsAt([next]);
    if (event?.type !== 'thread.marked' || event.position !== root) {
      return unknownCursor('marks_before');
    }
    const view = markView(event);
    bytes += utf8Bytes(JSON.stringify(view));
    if (bytes > MARKS_BYTES_MAX && views.length > 0) break;
    views.push(view);
    next = event.previous;
  }
  return { views, next };
}

export function markView({
  mark,
  by,
  as: standing,
  at,
  note,
  version,
}: ThreadMarked): OutputOf<typeof threadsGet>['marks'][number] {
  return { mark, by, standing, at: at / 1000, note, version };
}

/** A line for each message, about it and how its thread stands. */
export async function headlines(
  hub: Hub,
  messages: readonly TextMessage[],
): Promise<Headline[] | Refusal> {
  return hub.ask((world) => {
    const hidden = new Map<ChannelView, ReadonlyMap<number, number>>();
    return messages.flatMap((message) => {
      const channel = channelWith(world, message);
      if (channel === undefined) return [];
      const known = hidden.get(channel) ?? hiddenReplies(channel);
      hidden.set(channel, known);
      return [headlineOf(channel, message, known)];
    });
  });
}

function headlineOf(
  channel: ChannelView,
  message: TextMessage,
  hidden: ReadonlyMap<number, number>,
): Headline {
  const { threads, positions } = channel;
  const root = rootSeq(channel, message.seq);
  const last = threads?.lastOf(root) ?? 0;
  return {
    message_id: messageId(message.position),
    thread_id: messageId(positions.at(root)),
    ...{ channel: channel.name, sender: message.by, standing: message.as ?? null },
    sent_at: message.at / 1000,
    ...headOf(readJson(message.body)),
    ...told(threads?.marksOf(root) ?? UNMARKED),
    reply_count: (threads?.countOf(root) ?? 0) - (hidden.get(root) ?? 0),
    last_reply_id: last === 0 || channel.held?.has(last) ? null : messageId(positions.at(last)),
    ...(message.dropped && { dropped: true as const }),
  };
}
