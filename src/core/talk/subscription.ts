/**
 * Subscriptions: an agent's interest in channels, by exact name or glob. They are
 * durable and idempotent [S1]; what was sent before is not owed [S2]; leaving
 * discards only what no remaining subscription matches [S4].
 */

import { type Asked, type Decision, refuse, refuseFull } from '../law/decider.ts';
import { createCounter, createMatcher, isGlob, wildPart } from '../law/glob.ts';
import { GLOB_CHARS_PER_AGENT_MAX, SUBSCRIPTIONS_PER_AGENT_MAX } from '../law/limits.ts';
import { channelKind } from '../law/name.ts';
import type { Agent, MemberView, World, WorldView } from '../law/state.ts';
import { agentOf, checkAgentRoom } from './agent.ts';
import {
  channelOf,
  checkChannelRoom,
  checkPattern,
  freeCount,
  joinChannel,
  leaveChannel,
} from './channel.ts';

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
  const forbidden = checkPattern(world, by, pattern) ?? checkAgentRoom(world, by);
  if (forbidden !== null) return forbidden;
  const patterns = world.agents.get(by.id)?.patterns;
  const isKnown = patterns?.has(pattern) ?? false;
  if (!isKnown && (patterns?.size ?? 0) >= SUBSCRIPTIONS_PER_AGENT_MAX) {
    return refuseFull('SUBSCRIPTIONS_PER_AGENT_MAX', SUBSCRIPTIONS_PER_AGENT_MAX);
  }
  if (!isKnown && globChars([...(patterns ?? []), pattern]) > GLOB_CHARS_PER_AGENT_MAX) {
    return refuseFull('GLOB_CHARS_PER_AGENT_MAX', GLOB_CHARS_PER_AGENT_MAX);
  }
  const noRoom = isGlob(pattern) ? null : checkChannelRoom(world, by, pattern);
  if (noRoom !== null) return noRoom;
  return {
    events: isKnown ? [] : [{ type: 'subscription.added', at, by: by.id, pattern }],
    answer: { channels: matchingChannels(world, pattern) },
  };
}

/** What a new channel's name may have to be compared with, because of one agent. */
function globChars(patterns: readonly string[]): number {
  let chars = 0;
  for (const pattern of patterns) if (isGlob(pattern)) chars += wildPart(pattern).length;
  return chars;
}

export function evolveSubscribed(world: World, event: SubscriptionAdded): void {
  addSubscription(world, agentOf(world, event.by), event.pattern);
}

/** Also what group verbs do for their members. */
export function addSubscription(world: World, agent: Agent, pattern: string): void {
  if (agent.patterns.has(pattern)) return;
  agent.patterns.add(pattern);
  if (!isGlob(pattern)) {
    const channel = channelOf(world, pattern, agent.name);
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
  const named = new Set(command.patterns);
  const countMatches = createCounter(command.patterns);
  const patterns = [...agent.patterns].filter(
    (mine) => named.has(mine) || (channelKind(mine) === 'plain' && countMatches(mine) > 0),
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
  removeSubscriptions(world, agentOf(world, event.by), event.patterns);
}

export function removeSubscriptions(world: World, agent: Agent, patterns: readonly string[]): void {
  const known = patterns.filter((pattern) => agent.patterns.delete(pattern));
  for (const [member, count] of membersOf(agent.memberships, known)) leaveChannel(member, count);
  for (const pattern of known) {
    const glob = world.globs.get(pattern);
    glob?.agents.delete(agent);
    if (glob?.agents.size === 0) world.globs.delete(pattern);
  }
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
    const member = isGlob(pattern) ? undefined : memberships.get(pattern);
    if (member !== undefined) found.set(member, 1);
  }
  const globs = patterns.filter(isGlob);
  if (globs.length === 0) return found;
  const countMatches = createCounter(globs);
  for (const member of memberships.values()) {
    const count = member.channel.kind === 'plain' ? countMatches(member.channel.name) : 0;
    if (count > 0) found.set(member, (found.get(member) ?? 0) + count);
  }
  return found;
}
