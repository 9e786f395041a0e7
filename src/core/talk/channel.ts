/**
 * Channels: named, created by the first subscription or message, and who sits on
 * them. The rules of who may write, read, join and replay a channel live here,
 * once, for every operation [C5].
 */

import { assert } from '../law/assert.ts';
import { type Refusal, refuse } from '../law/decider.ts';
import { createMatcher, isGlob } from '../law/glob.ts';
import {
  ACKS_CHANNEL,
  addresseeOf,
  CLAIMS_CHANNEL,
  channelKind,
  dmName,
  dmParties,
  isChannelName,
  PRESENCE_CHANNEL,
} from '../law/name.ts';
import { isAgentName, type Principal, SERVER } from '../law/principal.ts';
import { checkShare, count } from '../law/shares.ts';
import type {
  Agent,
  BackpressureMode,
  Channel,
  ChannelView,
  Member,
  MemberView,
  World,
  WorldView,
} from '../law/state.ts';
import { armSweep } from '../law/sweep.ts';
import { LowestCursor } from './lowest-cursor.ts';
import { Positions } from './positions.ts';

/** For evolve: the channel, made on first sight together with the members its globs bring. */
export function channelOf(world: World, name: string, by: string): Channel {
  const known = world.channels.get(name);
  if (known !== undefined) return known;
  const channel: Channel = {
    name,
    madeBy: by === SERVER.id ? null : by,
    kind: channelKind(name),
    positions: new Positions(),
    lastSentAt: 0,
    members: new Map(),
    managed: new Set(),
    past: new Map(),
    settings: null,
    drained: 0,
    idleCount: 0,
    lowest: new LowestCursor(),
    held: null,
    described: null,
    threads: null,
  };
  world.channels.set(name, channel);
  count(world.made.channels, channel.madeBy, 1);
  world.retired.delete(name);
  armSweep(world);
  if (channel.kind === 'plain') {
    for (const glob of world.globs.values()) {
      if (!glob.matches(name)) continue;
      for (const agent of glob.agents) joinChannel(channel, agent, 0);
    }
  }
  return channel;
}

/** The channel a message lies on; none when that one was retired, also if its name is used again. */
export function channelWith<W extends WorldView>(
  world: W,
  message: { readonly channel: string; readonly seq: number; readonly position: number },
): ReturnType<W['channels']['get']> {
  const channel = world.channels.get(message.channel);
  const isIt =
    channel !== undefined &&
    message.seq <= channel.positions.head &&
    channel.positions.at(message.seq) === message.position;
  return (isIt ? channel : undefined) as ReturnType<W['channels']['get']>;
}

/** One more of the agent's subscriptions matches the channel; owed is what comes after seq `from`. */
export function joinChannel(channel: Channel, agent: Agent, from: number): Member {
  let member = channel.members.get(agent.name);
  if (member !== undefined) {
    member.patterns++;
    return member;
  }
  member = {
    agent,
    channel,
    patterns: 1,
    from,
    cursor: from,
    again: [],
    leased: null,
    deliveries: null,
    isReady: false,
    oldest: 0,
    heapIndex: -1,
  };
  enterMember(member);
  return member;
}

/** Also for thawing: a new member takes its place on the channel and with its agent. */
export function enterMember(member: Member): void {
  const { channel, agent } = member;
  channel.members.set(agent.name, member);
  agent.memberships.set(channel.name, member);
  if (agent.managed !== null) channel.managed.add(member);
  channel.idleCount++;
  settleMember(member);
}

/** So many subscriptions less; with the last one the agent leaves, and what it was owed is gone. */
export function leaveChannel(member: Member, count = 1): void {
  member.patterns -= count;
  assert(member.patterns >= 0, 'a member leaves no more subscriptions than it has');
  if (member.patterns > 0) return;
  const { channel, agent } = member;
  channel.members.delete(agent.name);
  channel.managed.delete(member);
  agent.memberships.delete(channel.name);
  agent.ready.delete(member);
  if (!member.isReady) channel.idleCount--;
  agent.leasing.delete(member);
  agent.leasedCount -= member.leased?.size ?? 0;
  assert(agent.leasedCount >= 0, 'no lease is counted off twice');
  assert(channel.idleCount >= 0, 'no idle member is counted off twice');
  channel.lowest.forget();
  const { from, cursor } = member;
  // An interval in which nothing was owed would only overwrite one that has something to tell.
  if (channel.positions.head === from) return;
  channel.past.set(agent.name, {
    from,
    cursor,
    until: channel.positions.head,
    open: unsettled(member),
  });
}

/** Keeps `ready`, `idleCount` and `lowest` true after a member's cursor or debts changed. */
export function settleMember(member: Member): void {
  const { channel, agent } = member;
  channel.lowest.forget();
  const seq = nextOwed(member);
  const isReady = seq <= channel.positions.head;
  if (isReady !== member.isReady) channel.idleCount += isReady ? -1 : 1;
  member.isReady = isReady;
  if (isReady) {
    member.oldest = channel.positions.at(seq);
    agent.ready.put(member);
  } else {
    agent.ready.delete(member);
    member.oldest = 0;
  }
}

/** The first seq to hand out, or one above the head; what is held or refused is passed by [R6]. */
export function nextOwed({ again, channel, cursor }: MemberView): number {
  return again[0] ?? nextFree(channel, cursor);
}

/** The next seq above a cursor that may be handed out, or one above the head. */
export function nextFree(channel: ChannelView, cursor: number): number {
  let seq = cursor + 1;
  while (channel.held?.has(seq)) seq++;
  return seq;
}

/** How many messages above a cursor, up to `through`, may be handed out. */
export function freeCount(channel: ChannelView, cursor: number, through: number): number {
  let count = through - cursor;
  for (const seq of channel.held?.keys() ?? []) if (seq > cursor && seq <= through) count--;
  return count;
}

/** Nobody will ever be handed a refused message, so no cursor waits behind one. */
export function passRefused(member: Member): void {
  const { held } = member.channel;
  while (held?.get(member.cursor + 1)?.isRefused) member.cursor++;
}

/** Messages not yet drained by every subscriber; with none, those drained by nobody [B2]. */
export function queueDepth(channel: ChannelView): number {
  const head = channel.positions.head;
  if (channel.members.size === 0) return head - channel.drained;
  return head - channel.lowest.among(channel.members, head);
}

export function backpressureOf(
  world: WorldView,
  channel: ChannelView | undefined,
): { mode: BackpressureMode; limit: number; depth: number } {
  return {
    mode: channel?.settings?.backpressureMode ?? world.settings.backpressureMode,
    limit: channel?.settings?.queueLimit ?? world.settings.queueLimit,
    depth: channel === undefined ? 0 : queueDepth(channel),
  };
}

/** For decide: is there room for one more channel, if this one would be new? */
export function checkChannelRoom(world: WorldView, by: Principal, name: string): Refusal | null {
  if (world.channels.has(name)) return null;
  const mine = world.made.channels.get(by.id) ?? 0;
  return checkShare('CHANNELS_MAX', by, world.channels.size, mine);
}

/** A channel that is there keeps its name, whatever a new one may be called. */
export function checkName(world: WorldView, name: string): Refusal | null {
  if (world.channels.has(name) || world.retired.has(name) || isChannelName(name)) return null;
  return refuse(
    'channel.name-invalid',
    'a channel name has 1 to 256 characters: none that cannot be seen, no blank but the space, and that not at its ends',
    { violations: [{ field: 'channel', issue: 'must be 1-256 visible characters' }] },
  );
}

/** May this principal write here? [C5] */
export function checkWrite(world: WorldView, by: Principal, name: string): Refusal | null {
  if (by.kind === 'observer') {
    return refuse('access.denied', 'an observer reads and never writes; use an agent credential');
  }
  switch (channelKind(name)) {
    case 'sox':
      return refuse('channel.reserved', 'channels under sox/ are written by the hub alone');
    case 'dm':
      return checkParty(world, by, name);
    case 'group':
      return checkGroupMember(world, by, name);
    case 'plain':
      if (world.settings.isTypedOnly && !world.channels.get(name)?.settings?.schema) {
        return refuse(
          'channel.not-found',
          `channel ${name} is not registered, and this space has typed channels only`,
          { channel: name },
        );
      }
      return null;
  }
}

const PUBLIC_CHANNELS: ReadonlySet<string> = new Set([
  PRESENCE_CHANNEL,
  ACKS_CHANNEL,
  CLAIMS_CHANNEL,
]);

/** Whether everybody may read it. */
export function isOpenChannel(name: string): boolean {
  return channelKind(name) === 'plain' || PUBLIC_CHANNELS.has(name);
}

/** May this principal see what is said here? [C5] */
export function checkRead(world: WorldView, by: Principal, name: string): Refusal | null {
  if (isOpenChannel(name)) return null;
  switch (channelKind(name)) {
    case 'plain':
      return null;
    case 'sox':
      if (addresseeOf(name) === by.id) return null;
      return refuse(
        'channel.reserved',
        `of the sox/ channels there are ${[...PUBLIC_CHANNELS].join(', ')} and your own sox/to/<you>`,
      );
    case 'dm':
      return checkParty(world, by, name);
    case 'group':
      return checkGroupMember(world, by, name);
  }
}

/** May this principal read a channel's history? [RP3] */
export function checkReplay(world: WorldView, by: Principal, name: string): Refusal | null {
  const unreadable = checkName(world, name) ?? checkRead(world, by, name);
  if (unreadable !== null) return unreadable;
  const channel = world.channels.get(name);
  const retired = channel === undefined ? world.retired.get(name) : undefined;
  if (retired !== undefined) {
    return refuse(
      'channel.retired',
      `${name} was retired by ${retired.by}; what was said there is in the log, and a message makes it anew`,
      { channel: name, retired_at: retired.at / 1000, by: retired.by },
    );
  }
  const policy = channel?.settings?.replayPolicy ?? 'subscriber';
  if (policy === 'subscriber' && by.kind === 'agent' && !channel?.members.has(by.id)) {
    return refuse(
      'subscription.not-found',
      `${by.id} is not subscribed to ${name}; subscribe first, then replay`,
      { channel: name },
    );
  }
  return checkPast(world, by, name);
}

/**
 * Does the replay policy keep the past of a channel from somebody who may read it, of whatever kind?
 * `subscriber` keeps it from nobody who could subscribe [RP3].
 */
export function checkPast(world: WorldView, by: Principal, name: string): Refusal | null {
  const settings = world.channels.get(name)?.settings;
  if (settings == null || by.kind === 'admin') return null;
  switch (settings.replayPolicy) {
    case 'subscriber':
      return null;
    case 'admin_only':
      return refuse('replay.forbidden', `replay of ${name} is for administrators`, {
        channel: name,
      });
    case 'custom':
      if (settings.replayAllow.some((pattern) => createMatcher(pattern)(by.id))) return null;
      return refuse('replay.forbidden', `replay of ${name} is not allowed to ${by.id}`, {
        channel: name,
      });
  }
}

export function checkPattern(world: WorldView, by: Principal, pattern: string): Refusal | null {
  const badName = checkName(world, pattern);
  if (badName !== null) return badName;
  if (!isGlob(pattern)) return checkRead(world, by, pattern);
  if (channelKind(pattern) === 'plain') return null;
  return refuse(
    'pattern.reserved',
    'no glob reaches dm/, group/ or sox/ channels; name one exactly',
    {
      violations: [{ field: 'pattern', issue: 'a glob may not start with dm/, group/ or sox/' }],
    },
  );
}

function unsettled(member: MemberView): number[] {
  const { from, cursor, again, leased, channel } = member;
  const open = [...again, ...(leased?.keys() ?? [])];
  for (const [seq, { isRefused }] of channel.held ?? []) {
    if (!isRefused && seq > from && seq <= cursor) open.push(seq);
  }
  return open;
}

function checkParty(world: WorldView, by: Principal, name: string): Refusal | null {
  const parties = dmParties(name);
  const isNew = !world.channels.has(name);
  const isOdd = isNew && parties?.some((one) => !world.agents.has(one) && !isAgentName(one));
  if (parties === null || isOdd || dmName(...parties) !== name) {
    return refuse(
      'dm.not-canonical',
      'a dm channel is dm/<a>~<b> with the two names in byte order',
      {
        violations: [{ field: 'channel', issue: 'must be dm/<a>~<b>, names sorted' }],
      },
    );
  }
  if (parties.includes(by.id)) return null;
  return refuse('dm.not-party', 'only the two parties use this dm channel');
}

function checkGroupMember(world: WorldView, by: Principal, name: string): Refusal | null {
  if (world.groups.get(name)?.members.get(by.id)?.status === 'active') return null;
  return refuse(
    'group.not-member',
    'only active members use this group; ask one of them for an invite',
  );
}
