/**
 * Groups: channels with a membership. The creator is the first active member
 * [GR1]; one comes in by invitation and joining only [GR3]; members are
 * subscribed by the verbs themselves [GR4].
 */

import { forgetNamespace } from '../context/context-evolve.ts';
import { type EndEvent, withdrawPostsOn } from '../gates/gate-end.ts';
import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import {
  CHANNEL_NAME_CHARS_MAX,
  GROUP_INVITATIONS_PER_AGENT_MAX,
  GROUP_MEMBERS_MAX,
} from '../law/limits.ts';
import { dmName } from '../law/name.ts';
import { type Principal, standingOf } from '../law/principal.ts';
import { NO_SETTINGS } from '../law/settings.ts';
import { checkShare, count } from '../law/shares.ts';
import type { Group, ReplayPolicy, World, WorldView } from '../law/state.ts';
import { isName, NAME_ALPHABET } from '../law/text.ts';
import type { View } from '../law/view.ts';
import { checkTrust } from '../law/writer.ts';
import { agentOf, checkAgentName, checkAgentRoom } from './agent.ts';
import { channelOf, checkChannelRoom } from './channel.ts';
import { checkHeldRoom, heldReason, type MessageSent } from './message.ts';
import type { ChannelRetired } from './retire.ts';
import { addSubscription, removeSubscriptions } from './subscription.ts';

export interface CreateGroup extends Asked {
  readonly type: 'group.create';
  /** Full name, `group/<id>`. */
  readonly group: string;
  readonly displayName: string | null;
  readonly replayPolicy: ReplayPolicy | null;
}

export interface InviteToGroup extends Asked {
  readonly type: 'group.invite';
  readonly group: string;
  readonly agent: string;
  readonly message: string | null;
}

export interface JoinGroup extends Asked {
  readonly type: 'group.join';
  readonly group: string;
}

export interface LeaveGroup extends Asked {
  readonly type: 'group.leave';
  readonly group: string;
}

export interface RemoveGroup extends Asked {
  readonly type: 'group.remove';
  readonly group: string;
}

export interface GroupCreated {
  readonly type: 'group.created';
  readonly at: number;
  readonly by: string;
  readonly group: string;
  readonly displayName: string | null;
  readonly replayPolicy: ReplayPolicy | null;
}

export interface GroupInvited {
  readonly type: 'group.invited';
  readonly at: number;
  readonly by: string;
  readonly group: string;
  readonly agent: string;
}

export interface GroupJoined {
  readonly type: 'group.joined';
  readonly at: number;
  readonly by: string;
  readonly group: string;
}

export interface GroupLeft {
  readonly type: 'group.left';
  readonly at: number;
  readonly by: string;
  readonly group: string;
}

export interface GroupRemoved {
  readonly type: 'group.removed';
  readonly at: number;
  readonly by: string;
  readonly group: string;
}

export type GroupEvent = GroupCreated | GroupInvited | GroupJoined | GroupLeft | GroupRemoved;

const GROUP_ID_CHARS_MAX: number = CHANNEL_NAME_CHARS_MAX - 'group/'.length;

export function decideCreate(world: WorldView, command: CreateGroup): Decision<GroupCreated, null> {
  const { by, at, group, displayName, replayPolicy } = command;
  const forbidden = checkActor(world, by);
  if (forbidden !== null) return forbidden;
  const untrusted = displayName === null ? null : checkTrust(by, world.settings);
  if (untrusted !== null) return untrusted;
  if (!world.groups.has(group) && !isName(group.slice('group/'.length), GROUP_ID_CHARS_MAX)) {
    return refuse(
      'channel.name-invalid',
      `a group id has 1 to ${GROUP_ID_CHARS_MAX} characters, ${NAME_ALPHABET}`,
    );
  }
  if (world.groups.has(group)) {
    return refuse(
      'group.exists',
      `${group} exists already; choose another id or ask for an invite`,
      {
        violations: [{ field: 'group_id', issue: 'already taken' }],
      },
    );
  }
  const mine = world.made.groups.get(by.id) ?? 0;
  const noRoom =
    checkShare('GROUPS_MAX', by, world.groups.size, mine) ?? checkChannelRoom(world, by, group);
  if (noRoom !== null) return noRoom;
  return {
    events: [{ type: 'group.created', at, by: by.id, group, displayName, replayPolicy }],
    answer: null,
  };
}

export function decideInvite(
  world: WorldView,
  command: InviteToGroup,
): Decision<GroupInvited | MessageSent, { readonly isInvited: boolean }> {
  const { by, at, group: name, agent, message } = command;
  const group = activeGroup(world, by, name);
  if ('refused' in group) return group;
  // Who is not in it brings nobody in, itself least of all, while there are members to ask [GR7].
  if (group.members.get(by.id)?.status !== 'active' && activeCount(group) > 0) {
    return refuse(
      'group.not-member',
      `${name} has members; ask one of them for an invite, or dissolve it with group.remove`,
    );
  }
  const unfit = checkAgentName(world, agent);
  if (unfit !== null) return unfit;
  const known = group.members.get(agent);
  if (known?.status === 'active') return { events: [], answer: { isInvited: false } };
  const full = known === undefined ? checkInvitations(group, by.id) : null;
  if (full !== null) return full;
  const noRoom = checkAgentRoom(world, by, agent);
  if (noRoom !== null) return noRoom;
  const events: (GroupInvited | MessageSent)[] = [];
  if (known === undefined)
    events.push({ type: 'group.invited', at, by: by.id, group: name, agent });
  if (message !== null) {
    const dm = dmName(by.id, agent);
    const full =
      checkChannelRoom(world, by, dm) ?? checkHeldRoom(world, by, world.channels.get(dm));
    if (full !== null) return full;
    events.push(inviteMessage(world, command));
  }
  return { events, answer: { isInvited: true } };
}

/** One member must not fill a group with names that never come; its creator can dissolve it anyway. */
function checkInvitations(group: View<Group>, by: string): Refusal | null {
  if (group.members.size >= GROUP_MEMBERS_MAX) {
    return refuseFull('GROUP_MEMBERS_MAX', GROUP_MEMBERS_MAX);
  }
  if (group.createdBy === by) return null;
  let open = 0;
  for (const member of group.members.values()) if (member.by === by) open++;
  if (open < GROUP_INVITATIONS_PER_AGENT_MAX) return null;
  return refuseFull('GROUP_INVITATIONS_PER_AGENT_MAX', GROUP_INVITATIONS_PER_AGENT_MAX);
}

export function decideJoin(
  world: WorldView,
  command: JoinGroup,
): Decision<GroupJoined, { readonly isJoined: boolean; readonly memberCount: number }> {
  const { by, at, group: name } = command;
  const forbidden = checkActor(world, by);
  if (forbidden !== null) return forbidden;
  const group = world.groups.get(name);
  const known = group?.members.get(by.id);
  if (group === undefined || known === undefined) {
    return refuse(
      'group.not-invited',
      `${by.id} has no invitation to ${name}; ask a member for one`,
    );
  }
  const count = activeCount(group);
  if (known.status === 'active')
    return { events: [], answer: { isJoined: false, memberCount: count } };
  return {
    events: [{ type: 'group.joined', at, by: by.id, group: name }],
    answer: { isJoined: true, memberCount: count + 1 },
  };
}

export function decideLeave(
  world: WorldView,
  command: LeaveGroup,
): Decision<GroupLeft, { readonly hasLeft: boolean }> {
  const { by, at, group } = command;
  // Leaving a group one is not in tells nothing about whether it exists.
  if (!world.groups.get(group)?.members.has(by.id))
    return { events: [], answer: { hasLeft: false } };
  return { events: [{ type: 'group.left', at, by: by.id, group }], answer: { hasLeft: true } };
}

/** Its creator dissolves a group while it is a member, an administrator any [GR8]. */
export function decideRemove(
  world: WorldView,
  command: RemoveGroup,
): Decision<GroupRemoved | ChannelRetired | EndEvent, { readonly memberCount: number }> {
  const { by, at, group: name } = command;
  const group = activeGroup(world, by, name);
  if ('refused' in group) return group;
  if (group.createdBy !== by.id && by.kind !== 'admin') {
    return refuse('access.denied', `${name} is dissolved by ${group.createdBy}, who made it`);
  }
  const channel = world.channels.get(name);
  const posts = channel === undefined ? [] : withdrawPostsOn(world, channel, at);
  return {
    events: [...posts, ...removal(world, name, by.id, at)],
    answer: { memberCount: activeCount(group) },
  };
}

/** The group, and then its channel: who makes a group of that name later finds nothing of this one. */
export function removal(
  world: WorldView,
  group: string,
  by: string,
  at: number,
): (GroupRemoved | ChannelRetired)[] {
  const removed: GroupRemoved = { type: 'group.removed', at, by, group };
  if (!world.channels.has(group)) return [removed];
  return [removed, { type: 'channel.retired', at, by, channel: group }];
}

export function activeGroup(world: WorldView, by: Principal, name: string): View<Group> | Refusal {
  const group = world.groups.get(name);
  if (
    group !== undefined &&
    (group.members.get(by.id)?.status === 'active' || by.kind === 'admin')
  ) {
    return group;
  }
  return refuse('group.not-member', 'only active members do this; ask one of them for an invite');
}

export function evolveGroup(world: World, event: GroupEvent): void {
  switch (event.type) {
    case 'group.created': {
      const { group, displayName, at, by } = event;
      world.groups.set(group, {
        id: group,
        displayName,
        createdAt: at,
        createdBy: by,
        members: new Map([[by, { status: 'active', at }]]),
      });
      count(world.made.groups, by, 1);
      addSubscription(world, agentOf(world, by), group);
      if (event.replayPolicy !== null) {
        channelOf(world, group, by).settings = { ...NO_SETTINGS, replayPolicy: event.replayPolicy };
      }
      return;
    }
    case 'group.invited':
      agentOf(world, event.agent, event.by);
      world.groups.get(event.group)?.members.set(event.agent, {
        ...{ status: 'invited', at: event.at, by: event.by },
      });
      return;
    case 'group.joined':
      world.groups.get(event.group)?.members.set(event.by, { status: 'active', at: event.at });
      addSubscription(world, agentOf(world, event.by), event.group);
      return;
    case 'group.left':
      world.groups.get(event.group)?.members.delete(event.by);
      removeSubscriptions(world, agentOf(world, event.by), [event.group]);
      return;
    case 'group.removed':
      count(world.made.groups, world.groups.get(event.group)?.createdBy ?? null, -1);
      world.groups.delete(event.group);
      forgetNamespace(world.context, event.group, world.length);
      return;
  }
}

function activeCount(group: View<Group>): number {
  let count = 0;
  for (const member of group.members.values()) if (member.status === 'active') count++;
  return count;
}

function checkActor(world: WorldView, by: Principal): Refusal | null {
  if (by.kind === 'observer') return refuse('access.denied', 'an observer joins no group');
  return checkAgentRoom(world, by);
}

/** The invitation travels as a dm from the inviting agent, so the invitee finds it in its inbox [GR5]. */
function inviteMessage(world: WorldView, command: InviteToGroup): MessageSent {
  const channel = dmName(command.by.id, command.agent);
  const held = heldReason(world, command.by);
  return {
    type: 'message.sent',
    at: command.at,
    by: command.by.id,
    as: standingOf(command.by),
    channel,
    seq: (world.channels.get(channel)?.positions.head ?? 0) + 1,
    body: JSON.stringify({
      type: 'sox-invite',
      channel: command.group,
      inviting_agent: command.by.id,
      purpose: command.message,
    }),
    ...(held !== null && { held }),
  };
}
