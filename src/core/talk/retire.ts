/**
 * Retiring a channel: its name is free again, and what was said there stays in the log. Nobody is
 * robbed by it [GA1]: a channel on which somebody is owed a message, which another agent follows by
 * its exact name, or for which an administrator laid something down, is retired only by a person or
 * an administrator who insists. What was laid down ends with it: an agent must not undo a schema.
 */
import { type EndEvent, withdrawPostsOn } from '../gates/gate-end.ts';
import { type Asked, type Decision, type Refusal, refuse } from '../law/decider.ts';
import { RETIRED_CHANNELS_MAX } from '../law/limits.ts';
import { makeRoom } from '../law/make-room.ts';
import { count } from '../law/shares.ts';
import type { ChannelView, World, WorldView } from '../law/state.ts';
import { countDescribed } from '../threads/describe.ts';
import { checkName, checkWrite } from './channel.ts';
import { dropHeld } from './held.ts';

export interface RetireChannel extends Asked {
  readonly type: 'channel.retire';
  readonly channel: string;
  readonly isForced: boolean;
}

export interface ChannelRetired {
  readonly type: 'channel.retired';
  readonly at: number;
  readonly by: string;
  readonly channel: string;
}

export function decideRetire(
  world: WorldView,
  command: RetireChannel,
): Decision<ChannelRetired | EndEvent, { readonly messages: number }> {
  const { by, at, channel: name, isForced } = command;
  const isPerson = by.kind === 'admin' || by.kind === 'human';
  const forbidden = checkName(world, name) ?? (isPerson ? null : checkWrite(world, by, name));
  if (forbidden !== null) return forbidden;
  const channel = world.channels.get(name);
  if (channel === undefined) {
    return refuse('channel.not-found', `there is no channel ${name}`, { channel: name });
  }
  if (world.groups.has(name)) {
    return refuse('channel.in-use', `${name} belongs to a group; group.remove ends both`, {
      channel: name,
    });
  }
  if (isForced && !isPerson) {
    return refuse('access.denied', 'only a person or an administrator retires by force');
  }
  const inUse = isForced ? null : checkIdle(channel, by.id);
  if (inUse !== null) return inUse;
  return {
    events: [
      ...withdrawPostsOn(world, channel, at),
      { type: 'channel.retired', at, by: by.id, channel: name },
    ],
    answer: { messages: channel.positions.length },
  };
}

export function evolveRetired(world: World, event: ChannelRetired): void {
  const { channel: name, at, by } = event;
  const channel = world.channels.get(name);
  if (channel === undefined) return;
  for (const member of channel.members.values()) {
    const { agent, leased } = member;
    agent.patterns.delete(name);
    agent.memberships.delete(name);
    agent.ready.delete(member);
    agent.leasing.delete(member);
    agent.leasedCount -= leased?.size ?? 0;
  }
  for (const seq of channel.held?.keys() ?? []) {
    dropHeld(world, channel.positions.at(seq), { at, by, outcome: 'retired' });
  }
  world.channels.delete(name);
  count(world.made.channels, channel.madeBy, -1);
  countDescribed(world, channel.described, -1);
  world.retired.set(name, { at, by });
  makeRoom(world.retired, RETIRED_CHANNELS_MAX, (_, retired) => retired.by);
}

/** Somebody still counts on the channel: who, how many messages wait, and what is laid down. */
function checkIdle(channel: ChannelView, by: string): Refusal | null {
  const owed = [...channel.members.values()].filter(
    ({ isReady, leased }) => isReady || (leased?.size ?? 0) > 0,
  );
  const others = [...channel.members.values()].filter(
    ({ agent }) => agent.name !== by && agent.patterns.has(channel.name),
  );
  const held = [...(channel.held?.values() ?? [])].filter(({ isRefused }) => !isRefused);
  const configured = channel.settings !== null;
  const describer = channel.described?.by ?? by;
  const reasons = [
    owed.length > 0 && `agents owed messages: ${owed.length}`,
    others.length > 0 && `other subscribers: ${others.length}`,
    held.length > 0 && `messages that wait for review: ${held.length}`,
    configured && 'an administrator configured it',
    describer !== by && `${describer} described it`,
  ].filter((reason) => reason !== false);
  if (reasons.length === 0) return null;
  return refuse(
    'channel.in-use',
    `${channel.name} is in use (${reasons.join(', ')}); a person or an administrator may force it`,
    {
      channel: channel.name,
      owed: owed.length,
      subscribers: others.length,
      held: held.length,
      configured,
    },
  );
}
