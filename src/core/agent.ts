/**
 * Agents: the identities of a space. A record appears with the first thing an
 * agent does; nobody registers twice.
 */

import { type Refusal, refuse } from './decider.ts';
import { AGENTS_MAX } from './limits.ts';
import type { Agent, World } from './state.ts';

export function createAgent(name: string): Agent {
  return {
    name,
    patterns: new Set(),
    memberships: new Map(),
    ready: new Set(),
    leasedCount: 0,
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
    world.agents.set(name, agent);
  }
  return agent;
}

/** For decide: is there room for one more name? */
export function checkAgentRoom(world: World, name: string): Refusal | null {
  if (world.agents.has(name) || world.agents.size < AGENTS_MAX) return null;
  return refuse('limit.reached', `this space already knows ${AGENTS_MAX} agents`, {
    limit: 'AGENTS_MAX',
    max: AGENTS_MAX,
  });
}
