/**
 * A person's word on a held message: it is released and handed out, or refused and passed by [R7] [R8].
 */
import { type Asked, type Decision, refuse } from '../law/decider.ts';
import type { Channel, World, WorldView } from '../law/state.ts';
import { wakeManaged } from '../turns/pending.ts';
import { channelWith, settleMember } from './channel.ts';
import { dropHeld, passByRefused } from './held.ts';
import { insertSorted } from './message.ts';
import { type MessageRef, messageId } from './message-id.ts';
import { cutPresented } from './presented.ts';

export interface ReviewMessage extends Asked {
  readonly type: 'message.review';
  readonly target: MessageRef;
  readonly isReleased: boolean;
  readonly reason: string | null;
}

export interface MessageReviewed {
  readonly type: 'message.reviewed';
  readonly at: number;
  readonly by: string;
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
  readonly isReleased: boolean;
  readonly reason: string | null;
  /** No person's word: the turn that sent it has ended. */
  readonly isTakenBack?: true;
}

export function decideReview(
  world: WorldView,
  command: ReviewMessage,
): Decision<MessageReviewed, null> {
  const { by, at, target, isReleased, reason } = command;
  if (by.kind !== 'human' && by.kind !== 'admin') {
    return refuse('access.denied', 'only a person releases or refuses a held message');
  }
  const { channel, seq, position } = target;
  const held = channelWith(world, target)?.held?.get(seq);
  if (held === undefined || held.isRefused) {
    return refuse(
      'message.not-held',
      `${messageId(position)} is not held; someone may have decided already`,
    );
  }
  const gate = world.held.get(position)?.gate;
  if (gate !== undefined) {
    const message = `${messageId(position)} waits for gate ${gate}: a person decides that, with gates.decide`;
    return refuse('gate.pending', message, { gate_id: gate, state: 'pending' });
  }
  return {
    events: [
      { type: 'message.reviewed', at, by: by.id, channel, seq, position, isReleased, reason },
    ],
    answer: null,
  };
}

export function evolveReviewed(world: World, event: MessageReviewed): void {
  const channel = world.channels.get(event.channel);
  const held = channel?.held?.get(event.seq);
  if (channel === undefined || held === undefined || held.isRefused) return;
  const outcome = event.isReleased ? 'released' : 'refused';
  const waking = world.held.get(event.position)?.waking;
  dropHeld(world, event.position, { at: event.at, by: event.by, outcome });
  if (event.isReleased) {
    channel.held?.delete(event.seq);
    cutPresented(world, channel.name, event.position);
  } else {
    const reason = event.reason ?? `refused by ${event.by}`;
    const taken = event.isTakenBack && { isTakenBack: true as const };
    channel.held?.set(event.seq, { reason, since: event.at, isRefused: true, ...taken });
  }
  if (!event.isReleased) passByRefused(channel, event.seq);
  else oweReleased(channel, event.seq);
  if (event.isReleased && waking !== undefined) {
    wakeManaged(world, channel, waking, event.at);
  }
}

function oweReleased(channel: Channel, seq: number): void {
  for (const member of channel.members.values()) {
    if (member.from >= seq) continue;
    // A reader that passed it by is owed it now; one that did not will meet it in order.
    if (member.cursor >= seq) insertSorted(member.again, seq);
    settleMember(member);
  }
}
