/**
 * What lapses by itself when nobody needs it any more [GA5]: a channel without subscribers and
 * without messages that are kept, a group in which nobody is left, an agent that stayed away and is
 * owed nothing, a checkpoint that the space keeps no longer. Looked for now and then, and some at a time, so that one look is a bounded work.
 */
import { holdsContext } from '../context/namespace.ts';
import { LAPSES_PER_LOOK_MAX, SWEEP_EVERY_MS } from '../law/limits.ts';
import { addresseeOf, dmParties } from '../law/name.ts';
import { SERVER } from '../law/principal.ts';
import type { AgentView, ChannelView, WorldView } from '../law/state.ts';
import { isLive } from '../law/token.ts';
import { hasSessions } from '../sessions/departed.ts';
import type { ClaimForgotten } from '../work/claim/claim-events.ts';
import { outlived } from '../work/claim/inheritance.ts';
import { holdsWork } from '../work/work.ts';
import { type DepartureEvent, departure } from './departure.ts';
import { type GroupRemoved, removal } from './group.ts';

/** Forgetting an agent visits every channel; one look visits this many at the most. */
const VISITS_MAX = 1_000_000;

type LapseEvent = DepartureEvent | GroupRemoved | ClaimForgotten;

/** `dueAt` is when this look was to be. */
export function lapses(world: WorldView, at: number, dueAt: number): LapseEvent[] {
  const events: LapseEvent[] = outlived(world.claims, world.settings.memoryRetentionMs, at);
  let left = LAPSES_PER_LOOK_MAX;
  for (const channel of world.channels.values()) {
    if (left === 0) return events;
    if (world.groups.has(channel.name) || !isForgettable(world, channel, at)) continue;
    events.push({ type: 'channel.retired', at, by: SERVER.id, channel: channel.name });
    left--;
  }
  for (const group of world.groups.values()) {
    if (left === 0) return events;
    const channel = world.channels.get(group.id);
    if (group.members.size > 0 || (channel && !isForgettable(world, channel, at))) continue;
    events.push(...removal(world, group.id, SERVER.id, at));
    left--;
  }
  // A hub that slept has heard nobody: whoever is still there may say so before the next look.
  if (at - dueAt >= SWEEP_EVERY_MS) return events;
  left = Math.min(left, Math.max(1, Math.floor(VISITS_MAX / (world.channels.size + 1))));
  const open = [...world.tokens.values()].filter((token) => isLive(token, at));
  const expected = new Set(open.map(({ agent }) => agent));
  for (const agent of world.agents.values()) {
    if (left === 0) return events;
    if (expected.has(agent.name) || !isGone(world, agent, at)) continue;
    events.push(...departure(world, agent, [], SERVER.id, at));
    left--;
  }
  return events;
}

/** Nobody follows it, nothing is laid down for it, and nothing that was said there is kept. */
function isForgettable(world: WorldView, channel: ChannelView, at: number): boolean {
  if (channel.members.size > 0 || channel.settings !== null) return false;
  for (const { isRefused } of channel.held?.values() ?? []) if (!isRefused) return false;
  const { described } = channel;
  if (described?.isStanding) return false;
  if (described != null && at - described.at < world.settings.retentionMs) return false;
  if (channel.positions.length === 0 || isPrivateOfNobody(world, channel)) return true;
  const keptMs = world.settings.messageRetentionMs;
  const idleMs = Math.max(keptMs ?? Number.POSITIVE_INFINITY, world.settings.retentionMs);
  return at - channel.lastSentAt >= idleMs;
}

/** Only agents that are forgotten themselves could read it. */
function isPrivateOfNobody(world: WorldView, { kind, name }: ChannelView): boolean {
  const addressee = addresseeOf(name);
  const readers = kind === 'dm' ? dmParties(name) : addressee === null ? null : [addressee];
  return readers !== null && !readers.some((reader) => world.agents.has(reader));
}

function isGone(world: WorldView, agent: AgentView, at: number): boolean {
  const { presence, seenAt, ready, leasedCount, name } = agent;
  const lastAt = Math.max(seenAt, presence.beatAt, presence.changedAt);
  return (
    at - lastAt >= world.settings.agentIdleMs &&
    presence.state === 'offline' &&
    ready.size === 0 &&
    leasedCount === 0 &&
    agent.managed === null &&
    !world.processes.definitions.has(name) &&
    !holdsContext(world, name) &&
    !hasSessions(world, name) &&
    !world.workflows.countBy.has(name) &&
    !holdsWork(world, name) &&
    // Who asked a person is told the answer, however long that takes [DK7].
    (world.docket.agents.get(name)?.questions ?? 0) === 0 &&
    !world.offers.agents.has(name)
  );
}
