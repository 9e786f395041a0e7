/**
 * Acks: what a recipient says it did with a message. One record per message and
 * agent, moving forward only [A1]; never a message on a channel [A2], though
 * `sox/acks` may be followed by whoever audits.
 */

import { type Asked, type Decision, refuse } from '../law/decider.ts';
import { ACKS_CHANNEL, channelKind } from '../law/name.ts';
import type { AckStatus, World, WorldView } from '../law/state.ts';
import { checkTrust } from '../law/writer.ts';
import { channelWith, settleMember } from './channel.ts';
import { endLease } from './inbox.ts';
import { type MessageSent, serverMessage } from './message.ts';
import { type MessageRef, messageId } from './message-id.ts';
import { isForgotten, rememberFate, wasOwed } from './receipt.ts';

export interface RecordAck extends Asked {
  readonly type: 'ack.record';
  readonly target: MessageRef;
  readonly status: AckStatus;
  readonly reason: string | null;
}

export interface AckRecorded {
  readonly type: 'ack.recorded';
  readonly at: number;
  readonly by: string;
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
  readonly status: AckStatus;
  readonly reason: string | null;
}

const RANK: Readonly<Record<AckStatus, number>> = { received: 1, processing: 2, done: 3, nack: 3 };

export function decideAck(
  world: WorldView,
  command: RecordAck,
): Decision<AckRecorded | MessageSent, { readonly at: number }> {
  const { by, at, target, status, reason } = command;
  const { position, channel: name, seq } = target;
  // The reason is read by the sender as it stands, so it is for those whose words need no review.
  const untrusted = reason === null ? null : checkTrust(by, world.settings);
  if (untrusted !== null) return untrusted;
  const channel = channelWith(world, target);
  // A held message has reached nobody, so nobody can have done anything with it.
  if (channel === undefined || !wasOwed(channel, seq, by.id) || channel.held?.has(seq)) {
    return refuse('ack.not-recipient', `${messageId(position)} was not sent to ${by.id}`);
  }
  const known = world.fates.get(position)?.get(by.id);
  if (known === undefined && isForgotten(world, position, by.id)) {
    return refuse('ack.forgotten', `${messageId(position)} is too old to be acked`);
  }
  const rank = known === undefined ? 0 : (RANK[known.state as AckStatus] ?? 0);
  if (known?.state === status) return { events: [], answer: { at: known.at } };
  if (RANK[status] <= rank) {
    return refuse(
      'ack.backward',
      `${messageId(position)} is already ${known?.state}; an ack only moves forward`,
      {
        current: known?.state,
        violations: [{ field: 'status', issue: `cannot go from ${known?.state} to ${status}` }],
      },
    );
  }
  const recorded: AckRecorded = {
    type: 'ack.recorded',
    at,
    by: by.id,
    channel: name,
    seq,
    position,
    status,
    reason,
  };
  // The audit feed tells nothing of private channels, and costs nothing while nobody listens.
  const isAudited =
    channelKind(name) === 'plain' && (world.channels.get(ACKS_CHANNEL)?.members.size ?? 0) > 0;
  if (!isAudited) return { events: [recorded], answer: { at } };
  const body = JSON.stringify({
    message_id: messageId(position),
    agent_id: by.id,
    status,
    reason,
    acked_at: at / 1000,
  });
  const told = serverMessage(world, ACKS_CHANNEL, body, { at, actor: by });
  return { events: [recorded, told], answer: { at } };
}

export function evolveAcked(world: World, event: AckRecorded): void {
  rememberFate(world, event.position, event.by, {
    state: event.status,
    reason: event.reason,
    at: event.at,
  });
  const member = world.channels.get(event.channel)?.members.get(event.by);
  if (member === undefined) return;
  endLease(member, event.seq);
  member.deliveries?.delete(event.seq);
  // An ack of what came back settles it as well: it is not owed once more.
  if (member.again.includes(event.seq)) {
    member.again = member.again.filter((seq) => seq !== event.seq);
    settleMember(member);
  }
}
