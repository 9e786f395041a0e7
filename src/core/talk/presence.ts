/**
 * Presence: who is there. An agent reports online, busy or offline; silence makes
 * it stale and then offline, by deadline [PR2]. Only a change of state is an
 * event on `sox/presence` [PR1]; a beat that changes nothing is not history.
 */

import { type Asked, type Decision, refuse } from '../law/decider.ts';
import { OFFLINE_AFTER_MS, STALE_AFTER_MS } from '../law/limits.ts';
import { PRESENCE_CHANNEL } from '../law/name.ts';
import type { Principal } from '../law/principal.ts';
import type { Presence, PresenceState, World, WorldView } from '../law/state.ts';
import { type CardEvent, dropCard } from '../work/card.ts';
import { agentOf, checkAgentRoom } from './agent.ts';
import { type MessageSent, serverMessage } from './message.ts';

/** Before that, one that went away may be on its way back. */
const GONE_AFTER_MS = 60_000;

export interface Heartbeat extends Asked {
  readonly type: 'presence.beat';
  readonly status: 'online' | 'busy' | 'offline';
  readonly ttlMs: number | null;
}

export interface PresenceChanged {
  readonly type: 'presence.changed';
  readonly at: number;
  readonly agent: string;
  readonly state: PresenceState;
  /** Set when the agent spoke; absent when its silence did. */
  readonly beat?: Beat;
}

/** Memory only: the agent is still what it was. */
export interface PresenceBeaten {
  readonly type: 'presence.beaten';
  readonly at: number;
  readonly agent: string;
  readonly beat: Beat;
}

interface Beat {
  readonly staleMs: number;
  readonly offlineMs: number;
}

export function decideBeat(
  world: WorldView,
  command: Heartbeat,
): Decision<
  PresenceChanged | PresenceBeaten | MessageSent | CardEvent,
  { readonly expiresAt: number }
> {
  const { by, at, status, ttlMs } = command;
  if (by.kind === 'observer')
    return refuse('access.denied', 'an observer has no presence to report');
  const noRoom = checkAgentRoom(world, by);
  if (noRoom !== null) return noRoom;
  const beat: Beat = {
    staleMs: ttlMs ?? STALE_AFTER_MS,
    offlineMs: ttlMs === null ? OFFLINE_AFTER_MS : ttlMs * 3,
  };
  const presence = world.agents.get(by.id)?.presence;
  const answer = { expiresAt: at + beat.staleMs };
  const isFirst = presence === undefined || presence.beatAt === 0;
  if (!isFirst && presence.state === status) {
    return { events: [{ type: 'presence.beaten', at, agent: by.id, beat }], answer };
  }
  return {
    events: [
      { type: 'presence.changed', at, agent: by.id, state: status, beat },
      presenceMessage(world, by.id, status, { at, actor: by }),
      ...cardOf(world, by.id, status, at),
    ],
    answer,
  };
}

/** What silence has made of the agent by `at`; empty when nothing changed. */
export function silenceOf(
  world: WorldView,
  agent: string,
  at: number,
): (PresenceChanged | MessageSent | CardEvent)[] {
  const presence = world.agents.get(agent)?.presence;
  if (presence === undefined) return [];
  const state = silentState(world, presence, at);
  if (state === presence.state) return [];
  return [
    { type: 'presence.changed', at, agent, state },
    presenceMessage(world, agent, state, { at, actor: null }),
    ...cardOf(world, agent, state, at),
  ];
}

/** Since when an agent that was there is gone; null for one that is about, or never reported. */
export function goneSince(world: WorldView, name: string, at: number): number | null {
  const agent = world.agents.get(name);
  if (agent === undefined || agent.presence.beatAt === 0) return null;
  if (agent.presence.state !== 'offline') return null;
  // What it did since, by whatever door, is a sign of life as well.
  const since = Math.max(agent.presence.changedAt, agent.seenAt);
  return at - since < GONE_AFTER_MS ? null : since;
}

export function evolvePresence(world: World, event: PresenceChanged | PresenceBeaten): void {
  const { presence } = agentOf(world, event.agent);
  if (event.type === 'presence.changed') {
    presence.state = event.state;
    presence.changedAt = event.at;
  }
  if (event.beat !== undefined) {
    presence.beatAt = event.at;
    presence.staleMs = event.beat.staleMs;
    presence.offlineMs = event.beat.offlineMs;
  }
  armPresence(world, event.agent);
}

/** Sees to it that the agent is looked at no later than when its silence next means something. */
export function armPresence(world: World, name: string): void {
  const presence = world.agents.get(name)?.presence;
  if (presence === undefined) return;
  const due = nextSilence(world, presence);
  if (due !== null) world.deadlines.push({ at: due, kind: 'presence', agent: name });
}

/** Beats are not stored: until a hub that has just started was awake for a while, silence means nothing [PR6]. */
function heardAt(world: WorldView, presence: Presence): number {
  return Math.max(presence.beatAt, world.awakeFrom);
}

function nextSilence(world: WorldView, presence: Presence): number | null {
  switch (presence.state) {
    case 'online':
    case 'busy':
      return heardAt(world, presence) + presence.staleMs;
    case 'stale':
      return heardAt(world, presence) + presence.offlineMs;
    case 'offline':
      return null;
  }
}

function silentState(world: WorldView, presence: Presence, at: number): PresenceState {
  const silentMs = at - heardAt(world, presence);
  switch (presence.state) {
    case 'offline':
      return 'offline';
    case 'stale':
      return silentMs >= presence.offlineMs ? 'offline' : 'stale';
    case 'online':
    case 'busy':
      // Both transitions are told, even if the clock jumped over the first.
      return silentMs >= presence.staleMs ? 'stale' : presence.state;
  }
}

/** Who is gone cannot do what its card says [CA3]. */
function cardOf(world: WorldView, agent: string, state: PresenceState, at: number): CardEvent[] {
  return state === 'offline' ? dropCard(world.cards, agent, at) : [];
}

function presenceMessage(
  world: WorldView,
  agent: string,
  state: PresenceState,
  how: { readonly at: number; readonly actor: Principal | null },
): MessageSent {
  const body = JSON.stringify({
    event: `agent_${state}`,
    agent_id: agent,
    state,
    changed_at: how.at / 1000,
  });
  return serverMessage(world, PRESENCE_CHANNEL, body, how);
}
