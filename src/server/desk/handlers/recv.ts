/**
 * Draining. What will be handed out is read first, with its threads, and taken after, so
 * that nothing is marked as delivered that could not be read; and nothing is taken for a
 * caller that has gone.
 */

import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { THREAD_DEPTH_MAX } from '../../../core/law/limits.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { channelWith } from '../../../core/talk/channel.ts';
import { type Owed, peek } from '../../../core/talk/inbox.ts';
import { drainedBy } from '../../../core/talk/receipt.ts';
import type { MessageHead, TextMessage } from '../../../hub/message-store.ts';
import type { Signal } from '../../../hub/watch.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import type { recv } from '../../../wire/operations/channels.ts';
import { envelopeFieldsText, standingFieldsText } from '../envelope.ts';
import { followMarks, type MarkNotice } from '../follow-marks.ts';
import { checkStanding } from '../identity.ts';
import { ANSWER_BYTES_MAX, fitting, readInPieces, readMost } from '../message-page.ts';
import { onePage } from '../one-page.ts';
import { outputFromText } from '../output-text.ts';
import { createReadersText } from '../readers-text.ts';
import type { Room } from '../room.ts';
import { isWithheld, mayRead, mayRecall } from './message-lookup.ts';

type Input = ParsedInputOf<typeof recv>;
type Output = OutputOf<typeof recv>;

/** Another drain of the same agent may take what we saw; then we look again, so often at most. */
const TRIES_MAX = 8;
/** Marks of one answer; the history of a thread has the others. */
const MARKS_TOLD_MAX = 50;

export async function handleRecv(room: Room, input: Input): Promise<Output | Refusal> {
  const { hub, platform } = room;
  // By a clock that only goes forward: a wait ends when it was said to, whatever the time of day does.
  const waitUntil = platform.elapsedMs() + (input.wait_ms ?? 0);
  let marks: MarkNotice[] | null = null;
  for (let tries = 1; ; ) {
    const owed = await hub.ask((world) => whatIsOwed(world, room, input));
    if (isRefusal(owed)) return owed;
    if (owed.length > 0) {
      const drained = await drain(room, input, owed);
      if (isRefusal(drained)) return drained;
      if (drained !== null || tries++ >= TRIES_MAX) return drained ?? nothing(room);
      continue;
    }
    const leftMs = Math.ceil(waitUntil - platform.elapsedMs());
    if (marks !== null) return { ...nothing(room), marks };
    if (leftMs <= 0 || room.signal?.aborted || hub.watch.isEnding) return nothing(room);
    const woken = await (input.marks
      ? mailOrMark(room, input, leftMs)
      : hub.watch.mail(room.by.id, leftMs, room.signal));
    if (woken === null)
      return refuse('limit.reached', 'too many callers wait already; ask without wait_ms');
    if (typeof woken === 'object') marks = woken;
  }
}

/** As waiting for mail, and with a mark of a thread that the caller follows it ends as well [TM15]. */
async function mailOrMark(
  { hub, by, signal }: Room,
  { channels }: Input,
  leftMs: number,
): Promise<MarkNotice[] | boolean | null> {
  let marks: MarkNotice[] | null = null;
  let end = (): void => {};
  // The caller's own leaving and a mark end the wait alike.
  const ending: Signal = {
    get aborted() {
      return marks !== null || signal?.aborted === true;
    },
    addEventListener(type, listener) {
      end = listener;
      signal?.addEventListener(type, listener);
    },
    removeEventListener: (type, listener) => signal?.removeEventListener(type, listener),
  };
  const unfollow = followMarks(hub, by, channels ?? null, (told) => {
    marks ??= told.slice(0, MARKS_TOLD_MAX);
    end();
  });
  const woken = await hub.watch.mail(by.id, leftMs, ending);
  unfollow();
  return marks ?? woken;
}

function whatIsOwed(world: WorldView, room: Room, input: Input): Owed[] | Refusal {
  const fallen = checkStanding(world, room.caller, room.hub.stamp());
  if (fallen !== null) return fallen;
  const agent = world.agents.get(room.by.id);
  if (world.settings.isTypedOnly) {
    for (const { channel } of agent?.memberships.values() ?? []) {
      if (channel.kind !== 'plain' || channel.settings?.schema) continue;
      return refuse(
        'channel.not-found',
        `${channel.name} is not registered, and this space has typed channels only`,
        {
          channel: channel.name,
        },
      );
    }
  }
  return peek(world, room.by.id, input.channels ?? null, input.max_messages);
}

/** Null when others took everything meanwhile. */
async function drain(
  room: Room,
  input: Input,
  peeked: readonly Owed[],
): Promise<Output | Refusal | null> {
  const { hub, by } = room;
  const read = await onePage(room, () => findOwed(room, peeked, input.thread_depth));
  const found = read ?? new Map<number, FoundOwed>();
  // What does not fit stays in the inbox: only what is handed out is taken.
  const owed = peeked.filter(({ position }) => found.has(position));
  const at = hub.stamp();
  const expired = new Set<number>();
  for (const { message } of found.values()) {
    const { position, expiresAt } = message;
    if (expiresAt !== undefined && expiresAt <= at) expired.add(position);
  }
  if (room.signal?.aborted) return nothing(room);
  const leaseMs = input.lease_ms ?? null;
  const answer = await hub.submit({ type: 'inbox.drain', by, at, owed, expired, leaseMs });
  if (isRefusal(answer)) return answer;
  if (answer.taken.length === 0) return null;
  const taken = answer.taken.map(({ position }) => found.get(position) as FoundOwed);
  const readers = await hub.ask((world) => taken.map(({ message }) => readersOf(world, message)));
  const meta = input.include_meta ? createMetaText(room) : null;
  const readersText = createReadersText();
  const texts = taken.map(({ message, text, ancestors }, i) => {
    const deliveredTo = isRefusal(readers) ? null : (readers[i] ?? null);
    return (
      `{${text},"delivered_to":${readersText(deliveredTo)},` +
      `"origin_server":null,"ancestors":${ancestors}${meta === null ? '' : meta(message)}}`
    );
  });
  const text = `{"drained_at":${at / 1000},"messages":[${texts.join(',')}]`;
  if (answer.leaseUntil === null)
    return outputFromText<Output>(`${text}}`, ['drained_at', 'messages']);
  const leased = `${text},"lease_until":${answer.leaseUntil / 1000}}`;
  return outputFromText<Output>(leased, ['drained_at', 'messages', 'lease_until']);
}

function createMetaText(room: Room): (message: MessageHead) => string {
  const timings = JSON.stringify(room.timings());
  const node = JSON.stringify(room.nodeId);
  return (message) => {
    const trace = JSON.stringify(`${room.correlationId}-${message.position}`);
    return `,"_meta":{"trace_id":${trace},"middleware_timings":${timings},"server_node_id":${node},${standingFieldsText(message)}}`;
  };
}

export function readersOf(world: WorldView, message: MessageHead): string[] | null {
  const channel = channelWith(world, message);
  if (channel === undefined) return null;
  return drainedBy(channel, message.seq, world.fates.get(message.position));
}

function nothing(room: Room): Output {
  return { drained_at: room.hub.stamp() / 1000, messages: [] };
}

/** What is owed and was read: as text, and its ancestors as that of a list, or `null`. */
interface FoundOwed {
  readonly message: TextMessage;
  readonly text: string;
  readonly ancestors: string;
}

/** As much of what is owed as one answer holds, by position. */
async function findOwed(
  room: Room,
  peeked: readonly Owed[],
  depth: number,
): Promise<ReadonlyMap<number, FoundOwed>> {
  const positions = peeked.map((one) => one.position);
  const reading = { hub: room.hub, agent: room.by.id };
  const { messages } = await readMost(reading, positions, ANSWER_BYTES_MAX);
  const threads = await findAncestors(room, messages, depth);
  const found = (threads === null ? messages : messages.slice(0, threads.length)).map(
    (message, i): FoundOwed => ({
      message,
      text: envelopeFieldsText(message),
      ancestors: threads === null ? 'null' : `[${(threads[i] ?? []).join(',')}]`,
    }),
  );
  // A long message may be the ancestor of many: what counts is the answer as it is written.
  const rows = found.map(({ text, ancestors }) => text + ancestors);
  const count = fitting(rows, ANSWER_BYTES_MAX);
  return new Map(found.slice(0, count).map((one) => [one.message.position, one]));
}

/**
 * For each message the texts of its parents, nearest first [TH2]; a level is read together. Where they are too
 * much for one answer it is for the first messages only, and of the first one always.
 */
async function findAncestors(
  room: Room,
  messages: readonly TextMessage[],
  depth: number,
): Promise<string[][] | null> {
  if (depth === 0) return null;
  const levels = depth < 0 ? THREAD_DEPTH_MAX : Math.min(depth, THREAD_DEPTH_MAX);
  const found: string[][] = messages.map(() => []);
  let heads: (MessageHead | null)[] = [...messages];
  let chars = 0;
  for (let level = 0; level < levels; level++) {
    const wanted = [...new Set(heads.flatMap((head) => head?.replyTo ?? []))];
    if (wanted.length === 0) break;
    const isOne = found.length === 1;
    const parents = new Map<number, TextMessage | null>();
    const reading = { hub: room.hub, agent: room.by.id };
    let next = 0;
    for await (const piece of readInPieces(reading, wanted)) {
      for (const parent of piece) {
        chars += parent?.chars ?? 0;
        parents.set(wanted[next++] as number, parent);
      }
      if (chars > ANSWER_BYTES_MAX && !isOne) break;
    }
    const isRead = (head: MessageHead | null): boolean =>
      head?.replyTo === undefined || parents.has(head.replyTo);
    const unread = heads.findIndex((head) => !isRead(head));
    if (unread === 0) return findAncestors(room, messages.slice(0, 1), depth);
    if (unread > 0) {
      heads = heads.slice(0, unread);
      found.length = unread;
    }
    // What waits for a person, or was refused by one, is not shown by way of its answers either [R6].
    const readable = await room.hub.ask(
      (world) =>
        new Set(
          [...parents.values()].filter(
            (parent) =>
              parent !== null &&
              mayRead(world, room.by, parent) &&
              mayRecall(world, room.by, parent) &&
              !isWithheld(world, parent),
          ),
        ),
    );
    if (isRefusal(readable)) break;
    heads = heads.map((head, i) => {
      const parent = head?.replyTo === undefined ? null : (parents.get(head.replyTo) ?? null);
      if (parent === null || !readable.has(parent)) return null;
      found[i]?.push(`{${envelopeFieldsText(parent)},${standingFieldsText(parent)}}`);
      return parent;
    });
  }
  return found;
}
