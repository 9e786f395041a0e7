/**
 * Subscriptions: an agent's interest in channels, by exact name or glob. They are
 * durable and idempotent [S1]; what was sent before is not owed [S2]; leaving
 * discards only what no remaining subscription matches [S4].
 */

import { type Asked, type Decision, refuse } from '../law/decider.ts';
import { createMatcher, isGlob } from '../law/glob.ts';
import { CHANNELS_MAX, SUBSCRIPTIONS_PER_AGENT_MAX } from '../law/limits.ts';
import { channelKind } from '../law/name.ts';
import type { Agent, MemberView, World, WorldView } from '../law/state.ts';
import { agentOf, checkAgentRoom } from './agent.ts';
import { channelOf, checkPattern, freeCount, joinChannel, leaveChannel } from './channel.ts';
import { full } from './message.ts';

export interface Subscribe extends Asked {
  readonly type: 'subscription.add';
  readonly pattern: string;
}

export interface Unsubscribe extends Asked {
  readonly type: 'subscription.remove';
  readonly patterns: readonly string[];
}

export interface SubscriptionAdded {
  readonly type: 'subscription.added';
  readonly at: number;
  readonly by: string;
  readonly pattern: string;
}

export interface SubscriptionRemoved {
  readonly type: 'subscription.removed';
  readonly at: number;
  readonly by: string;
  readonly patterns: readonly string[];
}

export function decideSubscribe(
  world: WorldView,
  command: Subscribe,
): Decision<SubscriptionAdded, { readonly channels: readonly string[] }> {
  const { by, at, pattern } = command;
  if (by.kind === 'observer') {
    return refuse('access.denied', 'an observer has no inbox; open a stream instead');
  }
  const forbidden = checkPattern(world, by, pattern) ?? checkAgentRoom(world, by.id);
  if (forbidden !== null) return forbidden;
  const patterns = world.agents.get(by.id)?.patterns;
  const isKnown = patterns?.has(pattern) ?? false;
  if (!isKnown && (patterns?.size ?? 0) >= SUBSCRIPTIONS_PER_AGENT_MAX) {
    return full('SUBSCRIPTIONS_PER_AGENT_MAX', SUBSCRIPTIONS_PER_AGENT_MAX);
  }
  if (!isGlob(pattern) && !world.channels.has(pattern) && world.channels.size >= CHANNELS_MAX) {
    return full('CHANNELS_MAX', CHANNELS_MAX);
  }
  return {
    events: isKnown ? [] : [{ type: 'subscription.added', at, by: by.id, pattern }],
    answer: { channels: matchingChannels(world, pattern) },
  };
}

export function evolveSubscribed(world: World, event: SubscriptionAdded): void {
  addSubscription(world, agentOf(world, event.by), event.pattern);
}

/** Also what group verbs do for their members. */
export function addSubscription(world: World, agent: Agent, pattern: string): void {
  if (agent.patterns.has(pattern)) return;
  agent.patterns.add(pattern);
  if (!isGlob(pattern)) {
    const channel = channelOf(world, pattern);
    joinChannel(channel, agent, channel.positions.head);
    return;
  }
  const glob = world.globs.get(pattern) ?? { matches: createMatcher(pattern), agents: new Set() };
  world.globs.set(pattern, glob);
  glob.agents.add(agent);
  for (const channel of world.channels.values()) {
    if (channel.kind === 'plain' && glob.matches(channel.name)) {
      joinChannel(channel, agent, channel.positions.head);
    }
  }
}

export function decideUnsubscribe(
  world: WorldView,
  command: Unsubscribe,
): Decision<
  SubscriptionRemoved,
  { readonly patterns: readonly string[]; readonly cleared: number }
> {
  const agent = world.agents.get(command.by.id);
  if (agent === undefined) return { events: [], answer: { patterns: [], cleared: 0 } };
  const wanted = command.patterns.map((pattern) => ({ pattern, matches: createMatcher(pattern) }));
  const patterns = [...agent.patterns].filter((mine) =>
    wanted.some(
      ({ pattern, matches }) =>
        pattern === mine || (channelKind(mine) === 'plain' && matches(mine)),
    ),
  );
  if (patterns.length === 0) return { events: [], answer: { patterns, cleared: 0 } };
  let cleared = 0;
  for (const [member, count] of membersOf(agent.memberships, patterns)) {
    if (count >= member.patterns) cleared += owedCount(member);
  }
  const { by, at } = command;
  return {
    events: [{ type: 'subscription.removed', at, by: by.id, patterns }],
    answer: { patterns, cleared },
  };
}

export function evolveUnsubscribed(world: World, event: SubscriptionRemoved): void {
  const agent = agentOf(world, event.by);
  for (const pattern of event.patterns) removeSubscription(world, agent, pattern);
}

export function removeSubscription(world: World, agent: Agent, pattern: string): void {
  if (!agent.patterns.delete(pattern)) return;
  for (const member of [...membersOf(agent.memberships, [pattern]).keys()]) leaveChannel(member);
  const glob = world.globs.get(pattern);
  glob?.agents.delete(agent);
  if (glob?.agents.size === 0) world.globs.delete(pattern);
}

export function matchingChannels(world: WorldView, pattern: string): string[] {
  if (!isGlob(pattern)) return world.channels.has(pattern) ? [pattern] : [];
  const matches = createMatcher(pattern);
  const names: string[] = [];
  for (const channel of world.channels.values()) {
    if (channel.kind === 'plain' && matches(channel.name)) names.push(channel.name);
  }
  return names.sort();
}

export function owedCount(member: MemberView): number {
  const { channel, cursor, again } = member;
  return freeCount(channel, cursor, channel.positions.head) + again.length;
}

/** Which memberships these subscriptions uphold, and how many of them uphold each. */
function membersOf<M extends MemberView>(
  memberships: ReadonlyMap<string, M>,
  patterns: readonly string[],
): Map<M, number> {
  const found = new Map<M, number>();
  for (const pattern of patterns) {
    const matches = createMatcher(pattern);
    for (const member of memberships.values()) {
      const isUpheld = isGlob(pattern)
        ? member.channel.kind === 'plain' && matches(member.channel.name)
        : member.channel.name === pattern;
      if (isUpheld) found.set(member, (found.get(member) ?? 0) + 1);
    }
  }
  return found;
}
