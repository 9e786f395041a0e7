/** Messages named by a caller: found, and shown only to those who may read their channel. */

import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { channelKind } from '../../../core/law/name.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { channelWith, checkPast, checkRead } from '../../../core/talk/channel.ts';
import { type MessageRef, parseMessageId } from '../../../core/talk/message-id.ts';
import type { Message, MessageHead, TextMessage } from '../../../hub/message-store.ts';
import type { Room } from '../room.ts';

/** An id that is malformed, unknown, or of a channel the caller may not read: the same refusal. */
export async function findMessage(
  room: Room,
  id: string,
  field: string,
  mayName: typeof mayRead = mayRead,
): Promise<Message | Refusal> {
  const unknown = refuse('message.not-found', `there is no message ${id} that you may read`, {
    violations: [{ field, issue: 'names no message' }],
  });
  const position = parseMessageId(id);
  if (position === null) return unknown;
  await room.hub.reach(position);
  const length = await room.hub.ask((world) => ({ value: world.length }));
  if (isRefusal(length)) return length;
  if (position >= length.value) return unknown;
  const [message] = await room.hub.messages([position]);
  if (!message) return unknown;
  const isReadable = await room.hub.ask((world) => ({ value: mayName(world, room.by, message) }));
  if (isRefusal(isReadable)) return isReadable;
  return isReadable.value ? message : unknown;
}

/** The same without what was said in it, for those who have it read in its turn. */
export async function findHead(
  ...named: Parameters<typeof findMessage>
): Promise<MessageHead | Refusal> {
  const message = await findMessage(...named);
  if (isRefusal(message)) return message;
  return headOnly(message);
}

export function headOnly({ body: _, ...head }: Message | TextMessage): MessageHead {
  return head;
}

/** What a person has not released is for people and its sender alone to name [R6]. */
export function mayRead(world: WorldView, by: Principal, message: MessageHead): boolean {
  const channel = channelWith(world, message);
  // Who is in a group now was not in the one of that name that was dissolved.
  if (channel === undefined && channelKind(message.channel) === 'group') return false;
  return (
    (!isWithheld(world, message) || by.id === message.by || isPerson(by)) &&
    checkRead(world, by, message.channel) === null
  );
}

/** A person decides on whatever waits for one, wherever it was said [R7]; the rest of a dm is its parties'. */
export function mayReview(world: WorldView, by: Principal, message: MessageHead): boolean {
  return (message.held !== undefined && isPerson(by)) || mayRead(world, by, message);
}

/** Was it said to the reader, or does the channel's replay policy open its past to it? [RP3] */
export function mayRecall(world: WorldView, by: Principal, message: MessageHead): boolean {
  const member = channelWith(world, message)?.members.get(by.id);
  const wasOwed = member !== undefined && member.from < message.seq;
  return wasOwed || message.by === by.id || checkPast(world, by, message.channel) === null;
}

function isPerson({ kind }: Principal): boolean {
  return kind === 'admin' || kind === 'human';
}

/**
 * Waits for a person, or was refused by one. What became of it is not remembered once its channel is
 * retired, so what ever waited counts as waiting: retiring a channel releases nothing.
 */
export function isWithheld(world: WorldView, message: MessageHead): boolean {
  const channel = channelWith(world, message);
  return channel === undefined
    ? message.held !== undefined
    : (channel.held?.has(message.seq) ?? false);
}

export function refOf(message: MessageHead): MessageRef {
  const { position, channel, seq, by: sender } = message;
  return { position, channel, seq, sender };
}
