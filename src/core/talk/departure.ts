/**
 * Forgetting an agent: its subscriptions, presence, roles, card, offers and places in groups go, and
 * its name is free. What it said stays. One that holds work, is there, or has a token that opens a
 * door is forgotten only by an administrator who insists [GA2]; what it held then lapses at once.
 */
import { madeContext } from '../context/context.ts';
import type { ContextEvent } from '../context/context-events.ts';
import { forgetNamespace } from '../context/context-evolve.ts';
import { holdsContext } from '../context/namespace.ts';
import { ownNamespaces } from '../context/own-namespaces.ts';
import { settleAgent } from '../docket/docket.ts';
import { abandonedGates, abandonedPosts, type EndEvent } from '../gates/gate-end.ts';
import { type Asked, type Decision, type Refusal, refuse } from '../law/decider.ts';
import { channelKind, toChannel } from '../law/name.ts';
import type { AgentView, Token, World, WorldView } from '../law/state.ts';
import { liveTokens, type TokenRevoked } from '../law/token.ts';
import { abandonedInstances } from '../processes/instance.ts';
import type { ProcessEvent } from '../processes/process-events.ts';
import { forgetHolder, hasSessions } from '../sessions/departed.ts';
import { unmanaged } from '../turns/managed.ts';
import type { TurnEvent } from '../turns/turn-events.ts';
import { abandonedWork, holdsWork, type WorkEvent } from '../work/work.ts';
import { abandonedRuns } from '../workflows/control.ts';
import type { RunCancelled } from '../workflows/run-events.ts';
import { ownUp } from './agent.ts';
import { type GroupRemoved, removal } from './group.ts';
import type { ChannelRetired } from './retire.ts';
import { removeSubscriptions } from './subscription.ts';

export interface RemoveAgent extends Asked {
  readonly type: 'agent.remove';
  readonly agent: string;
  readonly isForced: boolean;
  /** What it made and nobody else follows by name goes with it: the way out after a flood. */
  readonly takesMade?: boolean;
}

export interface AgentRemoved {
  readonly type: 'agent.removed';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
}

export type DepartureEvent =
  | AgentRemoved
  | ChannelRetired
  | GroupRemoved
  | TokenRevoked
  | WorkEvent
  | EndEvent
  | TurnEvent
  | ProcessEvent
  | ContextEvent
  | RunCancelled;

export interface DepartureAnswer {
  readonly subscriptions: number;
  /** Ids of the tokens that open nothing any more. */
  readonly tokens: readonly string[];
  /** Channels that were retired because it had made them. */
  readonly channels: number;
}

/** So much of what an agent made goes at once; whoever asks again takes the rest. */
const MADE_AT_ONCE = 10_000;

export function decideRemoveAgent(
  world: WorldView,
  command: RemoveAgent,
): Decision<DepartureEvent, DepartureAnswer> {
  const { by, at, agent: name, isForced, takesMade = false } = command;
  if (by.kind !== 'admin') return refuse('access.denied', 'only an administrator removes an agent');
  const agent = world.agents.get(name);
  if (agent === undefined) return refuse('agent.not-found', `there is no agent ${name} here`);
  const tokens = liveTokens(world, name, at);
  const inUse = isForced ? null : checkGone(world, agent, tokens);
  if (inUse !== null) return inUse;
  const made = takesMade ? leavings(world, name, by.id, at) : [];
  const channels = made.filter(({ type }) => type === 'channel.retired').length;
  return {
    events: [...made, ...departure(world, agent, tokens, by.id, at)],
    answer: { subscriptions: agent.patterns.size, tokens: tokens.map(({ id }) => id), channels },
  };
}

/** The public channels and the groups it made, but for those that others are in or follow by name. */
function leavings(
  world: WorldView,
  name: string,
  by: string,
  at: number,
): (GroupRemoved | DepartureEvent)[] {
  // First: they say where they will lie.
  const events: (GroupRemoved | DepartureEvent)[] = madeContext(world, name, by, at, MADE_AT_ONCE);
  for (const { id, createdBy, members } of world.groups.values()) {
    const others = [...members].filter(([one, { status }]) => one !== name && status === 'active');
    if (createdBy !== name || others.length > 0 || events.length >= MADE_AT_ONCE) continue;
    const channel = world.channels.get(id);
    if (channel !== undefined) events.push(...abandonedPosts(world, channel, name, at));
    events.push(...removal(world, id, by, at));
  }
  for (const channel of world.channels.values()) {
    if (events.length >= MADE_AT_ONCE) break;
    const { madeBy, kind, settings, members, name: channelName } = channel;
    if (madeBy !== name || kind !== 'plain' || settings !== null) continue;
    const isFollowed = [...members.values()].some(
      ({ agent }) => agent.name !== name && agent.patterns.has(channelName),
    );
    if (!isFollowed) events.push({ type: 'channel.retired', at, by, channel: channelName });
  }
  return events;
}

/** Everything that follows from the agent being gone, in order; the agent itself last. */
export function departure(
  world: WorldView,
  agent: AgentView,
  tokens: readonly Token[],
  by: string,
  at: number,
): DepartureEvent[] {
  const revoked = tokens.map(({ id }): TokenRevoked => ({ type: 'token.revoked', at, by, id }));
  const retired = [...agent.memberships.values()]
    .filter(({ channel }) => isAlone(agent.name, channel.name, channel.members.size))
    .flatMap(({ channel }): DepartureEvent[] => [
      ...abandonedPosts(world, channel, agent.name, at),
      { type: 'channel.retired', at, by, channel: channel.name },
    ]);
  const { managed } = agent;
  return [
    ...revoked,
    ...(managed === null ? [] : unmanaged(world, managed, by, at)),
    ...abandonedInstances(world, agent.name, by, at),
    ...abandonedRuns(world, agent.name, by, at),
    ...abandonedWork(world, agent.name, at),
    ...abandonedGates(world, agent.name, at),
    ...retired,
    { type: 'agent.removed', at, by, agent: agent.name },
  ];
}

export function evolveRemovedAgent(world: World, event: AgentRemoved): void {
  const agent = world.agents.get(event.agent);
  if (agent === undefined) return;
  settleAgent(world, event.at, agent.name, event.by);
  removeSubscriptions(world, agent, [...agent.patterns]);
  for (const { past } of world.channels.values()) past.delete(agent.name);
  for (const { members } of world.groups.values()) members.delete(agent.name);
  for (const ns of ownNamespaces(agent.name)) {
    forgetNamespace(world.context, ns, world.length);
  }
  ownUp(world, agent);
  world.agents.delete(agent.name);
  forgetHolder(world, agent.name, event.at, event.by);
}

/** A channel that only this agent could still read: what the hub told it, or a dm both have left. */
function isAlone(agent: string, channel: string, members: number): boolean {
  return channel === toChannel(agent) || (channelKind(channel) === 'dm' && members === 1);
}

function checkGone(world: WorldView, agent: AgentView, tokens: readonly Token[]): Refusal | null {
  const reasons = [
    agent.presence.state !== 'offline' && `it is ${agent.presence.state}`,
    holdsWork(world, agent.name) && 'it holds or waits for claims',
    agent.managed !== null && 'its turns are managed',
    world.processes.byAgent.has(agent.name) && 'instances of it are there',
    holdsContext(world, agent.name) && 'it has context in its own name',
    hasSessions(world, agent.name) && 'it has sessions that are not over',
    world.workflows.countBy.has(agent.name) && 'runs that it started are not over',
    tokens.length > 0 && `${tokens.length} of its tokens still open a door`,
  ].filter((reason) => reason !== false);
  if (reasons.length === 0) return null;
  return refuse(
    'agent.in-use',
    `${agent.name} is in use: ${reasons.join(', ')}; end that first, or remove it by force`,
    { agent: agent.name, state: agent.presence.state, tokens: tokens.length },
  );
}
