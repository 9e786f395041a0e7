/**
 * Definitions and instances, a page at a time. What an agent can do is told by its definition and by the
 * card that it advertises: whoever looks for a capability finds it in either [IP9].
 */
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import type { WorldView } from '../law/state.ts';
import { numberOf } from './instance.ts';
import type { ProcessLimits } from './process-limits.ts';
import {
  type Instance,
  type InstanceState,
  instancesOf,
  type ProcessView,
} from './process-state.ts';

export interface InstanceQuery extends PageBounds {
  readonly agent?: string | undefined;
  readonly state?: InstanceState | undefined;
  /** Also those that are over. */
  readonly isAll: boolean;
  readonly after?: string | undefined;
}

/** The newest first. */
export function instancesPage(book: ProcessView, query: InstanceQuery): Page<Instance, string> {
  const { agent, state, after, isAll } = query;
  const below = after === undefined ? Number.POSITIVE_INFINITY : numberOf(after);
  const rows = [...book.live.values(), ...(isAll ? book.ended.values() : [])]
    .filter((one) => numberOf(one.id) < below && (agent === undefined || one.agent === agent))
    .filter((one) => state === undefined || one.state === state)
    .sort((a, b) => numberOf(b.id) - numberOf(a.id));
  return takePage(rows, ({ id }) => id, query);
}

export interface Found {
  readonly agent: string;
  readonly state: InstanceState | 'defined' | null;
  readonly capabilities: readonly string[];
  readonly isDefined: boolean;
  readonly isManaged: boolean;
  readonly isSingleton: boolean;
  readonly maxInstances: number | null;
  readonly limits: ProcessLimits;
  readonly instances: number;
  readonly definedAt: number | null;
  readonly definedBy: string | null;
}

export interface FindQuery extends PageBounds {
  readonly capability?: string | undefined;
  readonly agent?: string | undefined;
  readonly isUp: boolean;
  readonly after?: string | undefined;
}

export function findAgents(world: WorldView, query: FindQuery): Page<Found, string> {
  const { capability, agent, isUp, after = '' } = query;
  const { definitions } = world.processes;
  const names = new Set([...definitions.keys(), ...world.cards.cards.keys()]);
  const rows = [...names]
    .filter((name) => name > after && (agent === undefined || name === agent))
    .sort()
    .map((name) => found(world, name))
    .filter(({ capabilities }) => capability === undefined || capabilities.includes(capability))
    .filter(({ state }) => !isUp || state === 'running' || state === 'idle' || state === null);
  return takePage(rows, ({ agent: name }) => name, query);
}

/** Of several instances the one that is most there speaks for the agent. */
const MOST_THERE: readonly InstanceState[] = ['running', 'idle', 'starting', 'stopping', 'failed'];

function found(world: WorldView, agent: string): Found {
  const definition = world.processes.definitions.get(agent);
  const card = world.cards.cards.get(agent);
  const instances = instancesOf(world.processes, agent);
  const states = new Set(instances.map(({ state }) => state));
  const skills = card?.skills.flatMap(({ id, tags }) => [id, ...tags]) ?? [];
  const told = [...(definition?.capabilities ?? []), ...skills, ...(card?.taskClasses ?? [])];
  const there = MOST_THERE.find((state) => states.has(state)) ?? 'defined';
  return {
    ...{ agent, state: definition === undefined ? null : there },
    capabilities: [...new Set(told)].sort(),
    isDefined: definition !== undefined,
    isManaged: world.turns.agents.has(agent),
    isSingleton: definition?.isSingleton ?? false,
    maxInstances: definition?.maxInstances ?? null,
    limits: definition?.limits ?? {},
    instances: instances.length,
    definedAt: definition?.definedAt ?? null,
    definedBy: definition?.definedBy ?? null,
  };
}
