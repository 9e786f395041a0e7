/**
 * Agents: the identities of a space. A record appears with the first thing an
 * agent does; nobody registers twice.
 */

import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { Heap } from '../law/heap.ts';
import { AGENTS_MAX, DAY_MS } from '../law/limits.ts';
import type { Agent, World, WorldView } from '../law/state.ts';
import { armSweep } from '../law/sweep.ts';

export interface AssumeRoles extends Asked {
  readonly type: 'agent.assume';
  readonly roles: readonly string[];
}

/** Roles outlive a restart: whoever speaks to one must still be heard [AD4]. */
export interface RolesAssumed {
  readonly type: 'agent.assumed';
  readonly at: number;
  readonly by: string;
  readonly roles: readonly string[];
}

export function decideAssume(world: WorldView, command: AssumeRoles): Decision<RolesAssumed, null> {
  const { by, at } = command;
  if (by.kind === 'observer') return refuse('access.denied', 'an observer has no role');
  const noRoom = checkAgentRoom(world, by.id);
  if (noRoom !== null) return noRoom;
  const roles = [...new Set(command.roles)].sort();
  const known = world.agents.get(by.id)?.roles ?? [];
  if (roles.join() === known.join()) return { events: [], answer: null };
  return { events: [{ type: 'agent.assumed', at, by: by.id, roles }], answer: null };
}

export function evolveAssumed(world: World, event: RolesAssumed): void {
  agentOf(world, event.by).roles = event.roles;
}

/** The desk says that an agent is about, though nothing it did was an event. */
export interface SeeAgent extends Asked {
  readonly type: 'agent.see';
}

export interface AgentSeen {
  readonly type: 'agent.seen';
  readonly at: number;
  readonly by: string;
}

/** Once a day is enough to know who stays away, and little enough to be history [GA6]. */
export function decideSee(world: WorldView, { by, at }: SeeAgent): Decision<AgentSeen, null> {
  const agent = world.agents.get(by.id);
  const isNews = agent !== undefined && at - agent.seenAt >= DAY_MS;
  return { events: isNews ? [{ type: 'agent.seen', at, by: by.id }] : [], answer: null };
}

export function createAgent(name: string): Agent {
  return {
    name,
    patterns: new Set(),
    roles: [],
    memberships: new Map(),
    ready: new Heap((a, b) => a.oldest < b.oldest),
    leasing: new Set(),
    leasedCount: 0,
    seenAt: 0,
    presented: null,
    presence: {
      state: 'offline',
      beatAt: 0,
      changedAt: 0,
      staleMs: 0,
      offlineMs: 0,
    },
  };
}

/** For evolve: the record, made on first sight. */
export function agentOf(world: World, name: string): Agent {
  let agent = world.agents.get(name);
  if (agent === undefined) {
    agent = createAgent(name);
    // Not `world.at`, which what only memory knew may have moved: replay would tell another time.
    agent.seenAt = world.recordedAt;
    armSweep(world);
    world.agents.set(name, agent);
  }
  return agent;
}

/** For decide: is there room for one more name? */
export function checkAgentRoom(world: WorldView, name: string): Refusal | null {
  if (world.agents.has(name) || world.agents.size < AGENTS_MAX) return null;
  return refuseFull('AGENTS_MAX', AGENTS_MAX);
}
