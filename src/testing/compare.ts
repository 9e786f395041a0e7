/**
 * Two worlds compared by what they would tell: as frozen text with its lists in a
 * fixed order. Durable facts can be compared alone, because what only memory knew
 * (beats, what feeds showed) is promised to nobody.
 */
import { freezeWorld } from '../core/law/snapshot.ts';
import type { WorldView } from '../core/law/state.ts';

interface Frozen {
  at?: number;
  readonly agents: { name: string; patterns: string[]; presented?: unknown; presence: object }[];
  readonly channels: { name: string; members: { agent: string }[] }[];
  readonly fates: [position: number, fates: unknown][];
  readonly [other: string]: unknown;
}

export function portray(world: WorldView, facts: 'all' | 'durable' = 'all'): string {
  const frozen = JSON.parse(freezeWorld(world)) as Frozen;
  sortBy(frozen.agents, ({ name }) => name);
  sortBy(frozen.channels, ({ name }) => name);
  for (const { members } of frozen.channels) sortBy(members, ({ agent }) => agent);
  frozen.fates.sort(([a], [b]) => a - b);
  if (facts === 'durable') {
    delete frozen.at;
    for (const agent of frozen.agents) {
      delete agent.presented;
      const { state, changedAt } = agent.presence as { state: string; changedAt: number };
      agent.presence = { state, changedAt };
    }
  }
  return JSON.stringify(frozen, null, 1);
}

/** What the indexes say that a snapshot leaves out; wrong numbers here would show only much later. */
export function portrayIndexes(world: WorldView): object {
  const agents = [...world.agents.values()].map((agent) => ({
    name: agent.name,
    leasedCount: agent.leasedCount,
    ready: [...agent.ready].map(({ channel }) => channel.name).sort(),
    memberships: [...agent.memberships.keys()].sort(),
  }));
  const channels = [...world.channels.values()].map((channel) => ({
    name: channel.name,
    idleCount: channel.idleCount,
    members: [...channel.members.keys()].sort(),
  }));
  const globs = [...world.globs].map(([pattern, { agents: subscribers }]) => ({
    name: pattern,
    agents: [...subscribers].map(({ name }) => name).sort(),
  }));
  for (const list of [agents, channels, globs]) sortBy<{ name: string }>(list, ({ name }) => name);
  return { agents, channels, globs, heldCount: world.heldCount };
}

function sortBy<T>(items: T[], key: (item: T) => string): void {
  items.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
