/**
 * Single messages counted as read, in whatever order: the cursor goes to the highest, and what it
 * passes stays owed [TN5]. How much may stay owed below a cursor is bounded; beyond it the oldest are
 * passed by, and their receipts say so.
 */
import { SKIPPED_PER_MEMBER_MAX } from '../law/limits.ts';
import type { Agent, Member, World } from '../law/state.ts';
import { channelWith, passRefused, settleMember } from './channel.ts';
import { endLease } from './inbox.ts';
import { insertSorted } from './message.ts';
import { rememberFate } from './receipt.ts';

interface Place {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
}

/** For evolve; what the agent is not owed is left alone. */
export function consume(world: World, agent: Agent, message: Place, at: number): void {
  const member = memberAt(world, agent, message);
  if (member === null) return;
  const { seq } = message;
  const { channel } = member;
  endLease(member, seq);
  member.deliveries?.delete(seq);
  if (seq <= member.cursor) member.again = member.again.filter((one) => one !== seq);
  else {
    for (let one = member.cursor + 1; one < seq; one++) {
      if (!channel.held?.has(one)) member.again.push(one);
    }
    member.cursor = seq;
    channel.drained = Math.max(channel.drained, seq);
  }
  const excess = member.again.length - SKIPPED_PER_MEMBER_MAX;
  for (const one of excess > 0 ? member.again.splice(0, excess) : []) {
    const reason = `${agent.name} read later ones and left more than ${SKIPPED_PER_MEMBER_MAX} unread on ${channel.name}`;
    rememberFate(world, channel.positions.at(one), agent.name, { state: 'expired', reason, at });
  }
  passRefused(member);
  settleMember(member);
}

/** For evolve: a message that was settled is owed once more. */
export function oweAgain(world: World, agent: Agent, message: Place): void {
  const member = memberAt(world, agent, message);
  world.fates.delete(message.position, agent.name);
  if (member === null || message.seq > member.cursor) return;
  // Out on a lease it is handed out already, and comes back by itself.
  if (member.leased?.has(message.seq)) return;
  insertSorted(member.again, message.seq);
  settleMember(member);
}

function memberAt(world: World, agent: Agent, message: Place): Member | null {
  const member = agent.memberships.get(message.channel);
  if (member === undefined || member.from >= message.seq) return null;
  return channelWith(world, message) === undefined ? null : member;
}
