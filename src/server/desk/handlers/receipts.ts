/** Acks, receipts, collecting answers, and mail held for review. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { AckStatus, WorldView } from '../../../core/law/state.ts';
import { messageId, parseMessageId } from '../../../core/talk/message-id.ts';
import { type Receipt, receiptFor, receiptsOf } from '../../../core/talk/receipt.ts';
import type { Message } from '../../../hub/message-store.ts';
import type { OutputOf, ParsedInputOf } from '../../../wire/operation.ts';
import { COLLECT_SECONDS_MAX, type heldList } from '../../../wire/operations/receipts.ts';
import { envelopeFieldsText, standingFieldsText } from '../envelope.ts';
import { checkStanding } from '../identity.ts';
import { ANSWER_BYTES_MAX, fitting, readSome } from '../message-page.ts';
import { outputFromText } from '../output-text.ts';
import type { Handlers, Room } from '../room.ts';
import { findMessage, mayRead, mayReview, refOf } from './message-lookup.ts';
import { handleWaits } from './waits.ts';

export const receiptHandlers: Handlers<
  | 'channels.ack'
  | 'channels.collect'
  | 'receipts.get'
  | 'receipts.waits'
  | 'held.list'
  | 'held.review'
> = {
  async 'channels.ack'(room, { message_id, status, reason }) {
    const message = await findMessage(room, message_id, 'message_id');
    if (isRefusal(message)) return message;
    const { hub, by } = room;
    const answer = await hub.submit({
      type: 'ack.record',
      by,
      at: hub.stamp(),
      target: refOf(message),
      status,
      reason: reason ?? null,
    });
    return isRefusal(answer) ? answer : { message_id, status, acked_at: answer.at / 1000 };
  },

  async 'channels.collect'(room, { reply_to, count, timeout, status_filter: filter }) {
    const message = await findMessage(room, reply_to, 'reply_to');
    if (isRefusal(message)) return message;
    const { hub, signal, platform } = room;
    const until = platform.elapsedMs() + Math.min(timeout, COLLECT_SECONDS_MAX) * 1000;
    for (;;) {
      const heard = await hub.ask(
        (world) =>
          checkStanding(world, room.caller, hub.stamp()) ?? {
            received: answersTo(world, message, filter ?? null),
            members: groupMembers(world, message),
          },
      );
      if (isRefusal(heard)) return heard;
      const { received, members } = heard;
      const leftMs = Math.ceil(until - platform.elapsedMs());
      const isEnough = received.length >= count;
      if (isEnough || leftMs <= 0 || signal?.aborted || hub.watch.isEnding) {
        const names = new Set(received.map((one) => one.agent_id));
        return {
          received,
          missing: members.filter((name) => !names.has(name)),
          timed_out: !isEnough,
        };
      }
      const woken = await hub.watch.answer(message.position, room.by.id, leftMs, signal);
      if (woken === null)
        return refuse(
          'limit.reached',
          'too many callers collect already; ask receipts.get, or try again when one is done',
        );
    }
  },

  async 'receipts.get'(room, { message_id }) {
    const message = await findMessage(
      room,
      message_id,
      'message_id',
      (world, by, one) => by.kind === 'admin' || mayRead(world, by, one),
    );
    if (isRefusal(message)) return message;
    const receipts = await room.hub.ask((world) => receiptsFor(world, room, message));
    if (isRefusal(receipts)) return receipts;
    return { message_id, channel: message.channel, receipts: receipts.map(receiptView) };
  },

  'receipts.waits': handleWaits,

  'held.list': listHeld,

  async 'held.review'(room, { message_id, decision, reason }) {
    const message = await findMessage(room, message_id, 'message_id', mayReview);
    if (isRefusal(message)) return message;
    const { hub, by } = room;
    const answer = await hub.submit({
      type: 'message.review',
      by,
      at: hub.stamp(),
      target: refOf(message),
      isReleased: decision === 'release',
      reason: reason ?? null,
    });
    return isRefusal(answer) ? answer : { message_id, decision };
  },
};

export function receiptView(receipt: Receipt): {
  agent_id: string;
  state: Receipt['state'];
  reason: string | null;
  at: number | null;
} {
  const { agent, state, reason, at } = receipt;
  return { agent_id: agent, state, reason, at: at === null ? null : at / 1000 };
}

/** Of what they may read, its sender and people see every recipient, a recipient itself; an administrator sees all [R3]. */
export function receiptsFor(
  world: WorldView,
  { by, hub }: Pick<Room, 'by' | 'hub'>,
  message: Message,
): Receipt[] | Refusal {
  const { position, channel, seq, expiresAt = null } = message;
  const subject = { position, channel, seq, expiresAt };
  if (by.id === message.by || by.kind === 'admin' || by.kind === 'human') {
    return receiptsOf(world, subject, hub.stamp());
  }
  const mine = receiptFor(world, subject, by.id, hub.stamp());
  if (mine !== null) return [mine];
  return refuse('access.denied', 'receipts are shown to the sender and to each recipient');
}

interface Answered {
  readonly agent_id: string;
  readonly message_id: string;
  readonly status: AckStatus;
  readonly acked_at: number;
}

/** Who answered: by an ack, or by a reply, which counts as done [CO1]. */
function answersTo(
  world: WorldView,
  message: Message,
  filter: readonly AckStatus[] | null,
): Answered[] {
  const { position } = message;
  const found = new Map<string, Answered>();
  const message_id = messageId(position);
  for (const [agent_id, fate] of world.fates.get(position) ?? []) {
    if (fate.state === 'dead' || fate.state === 'expired') continue;
    if (filter !== null && !filter.includes(fate.state)) continue;
    found.set(agent_id, { agent_id, message_id, status: fate.state, acked_at: fate.at / 1000 });
  }
  if (filter === null || filter.includes('done')) {
    for (const [agent, { at }] of world.replies.get(position) ?? []) {
      if (agent === message.by || found.has(agent)) continue;
      found.set(agent, { agent_id: agent, message_id, status: 'done', acked_at: at / 1000 });
    }
  }
  return [...found.values()].sort((a, b) => a.acked_at - b.acked_at);
}

function groupMembers(world: WorldView, message: Message): string[] {
  const members = world.groups.get(message.channel)?.members ?? new Map();
  return [...members]
    .filter(([name, { status }]) => status === 'active' && name !== message.by)
    .map(([name]) => name);
}

/** In the order of the log, so that one that is held or decided meanwhile moves no page [R15]. */
async function listHeld(
  room: Room,
  { limit, after, message_id }: ParsedInputOf<typeof heldList>,
): Promise<OutputOf<typeof heldList> | Refusal> {
  const { hub } = room;
  const named = message_id ?? after;
  const place = named === undefined ? -1 : parseMessageId(named);
  if (place === null) {
    const field = message_id === undefined ? 'after' : 'message_id';
    return refuse('input.invalid', `${field}: ${named} is no id of a message`, {
      violations: [{ field, issue: 'is no id of a message' }],
    });
  }
  const isOne = message_id !== undefined;
  const meant = await hub.ask((world) =>
    heldMessages(world, (position) => (isOne ? position === place : position > place)),
  );
  if (isRefusal(meant)) return meant;
  const held = meant.slice(0, limit);
  const positions = held.map(({ position }) => position);
  const { messages, through } = await readSome(room, positions, ANSWER_BYTES_MAX);
  const about = new Map(held.map((one) => [one.position, one]));
  const texts = messages.map((message) => {
    const { reason = '', since = 0 } = about.get(message.position) ?? {};
    const shown = `{${envelopeFieldsText(message)},${standingFieldsText(message)}}`;
    return `{"message":${shown},"reason":${JSON.stringify(reason)},"since":${since / 1000}}`;
  });
  const count = fitting(texts, ANSWER_BYTES_MAX - TAIL_BYTES);
  const last = count < messages.length ? messages[count - 1]?.position : positions[through - 1];
  const hasMore = last !== undefined && last !== meant.at(-1)?.position;
  const next = hasMore ? JSON.stringify(messageId(last)) : 'null';
  const text = `{"held":[${texts.slice(0, count).join(',')}],"has_more":${hasMore},"next":${next}}`;
  return outputFromText<OutputOf<typeof heldList>>(text, ['held', 'has_more', 'next']);
}

/** What stands around the messages of a page. */
const TAIL_BYTES = 128;

interface Held {
  readonly position: number;
  readonly reason: string;
  readonly since: number;
}

function heldMessages(world: WorldView, isMeant: (position: number) => boolean): Held[] {
  const held: Held[] = [];
  for (const channel of world.channels.values()) {
    for (const [seq, { reason, since, isRefused }] of channel.held ?? []) {
      const position = isRefused ? -1 : channel.positions.at(seq);
      if (!isRefused && isMeant(position)) held.push({ position, reason, since });
    }
  }
  return held.sort((a, b) => a.position - b.position);
}
