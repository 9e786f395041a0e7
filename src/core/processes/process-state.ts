/**
 * What the space knows of agents as processes: definitions by the name of the agent, and their
 * instances. An instance is held by one host, by a lease with an epoch; of those that are over the
 * newest are remembered.
 */
import { fieldsOf, fifoOf, mapBy } from '../law/fields.ts';
import { FifoMap } from '../law/fifo-map.ts';
import type { View } from '../law/view.ts';
import type { CardFields } from '../work/card-fields.ts';
import type { ProcessLimits } from './process-limits.ts';

export interface ProcessBook {
  readonly definitions: Map<string, Definition>;
  /** Not over, by id. */
  readonly live: Map<string, Instance>;
  readonly ended: FifoMap<string, Instance>;
  /** The ids of `live` by agent. */
  readonly byAgent: Map<string, Set<string>>;
  /** The number of the next instance. */
  next: number;
}

export type ProcessView = View<ProcessBook>;

export interface DefinitionFields {
  readonly capabilities: readonly string[];
  readonly maxInstances: number;
  readonly isSingleton: boolean;
  readonly limits: ProcessLimits;
  /** Advertised while an instance runs. */
  readonly card: CardFields | null;
}

export interface Definition extends DefinitionFields {
  readonly agent: string;
  readonly definedAt: number;
  readonly definedBy: string;
}

/** `defined` is the state of an agent none of whose instances is there. */
export type InstanceState =
  | 'starting'
  | 'running'
  | 'idle'
  | 'stopping'
  | 'stopped'
  | 'failed'
  | 'given_up';

export interface Instance {
  /** `i1`, `i2`, … */
  readonly id: string;
  readonly agent: string;
  readonly state: InstanceState;
  /** Grows each time it changes hands: what an earlier holder says is refused. */
  readonly epoch: number;
  /** The principal that holds it, and what it calls itself; null: it waits for a host. */
  readonly heldBy: string | null;
  readonly host: string | null;
  readonly leaseMs: number;
  readonly leaseUntil: number | null;
  readonly startedAt: number;
  readonly startedBy: string;
  readonly since: number;
  /** Since when it runs, idle or not; null while it does not. */
  readonly upSince: number | null;
  readonly pid: number | null;
  readonly usage: Usage | null;
  /** Failures in a row. */
  readonly failures: number;
  readonly reason: string | null;
  /** The last lines that it wrote before it failed. */
  readonly lines: readonly string[];
}

/** What was measured last, of the process and its children. */
export interface Usage {
  readonly memoryMb: number;
  readonly cpuSeconds: number;
  readonly files: number;
}

/** From where to where; any other arrow is refused with both names [IP3]. */
export const ARROWS: Readonly<Record<InstanceState, readonly InstanceState[]>> = {
  starting: ['running', 'stopping', 'failed'],
  running: ['idle', 'stopping', 'failed'],
  idle: ['running', 'stopping', 'failed'],
  stopping: ['stopped'],
  failed: ['starting', 'given_up'],
  stopped: [],
  given_up: [],
};

export function isOver(state: InstanceState): boolean {
  return ARROWS[state].length === 0;
}

const BOOK = fieldsOf<ProcessBook>()({
  definitions: mapBy<Definition>(({ agent }) => agent),
  live: mapBy<Instance>(({ id }) => id),
  ended: fifoOf<string, Instance>(),
  byAgent: 'derived',
  next: 'stored',
});

export function createProcesses(): ProcessBook {
  return {
    definitions: new Map(),
    live: new Map(),
    ended: new FifoMap(),
    byAgent: new Map(),
    next: 1,
  };
}

export function freezeProcesses(book: ProcessBook): object {
  return BOOK.freeze(book, {});
}

export function thawProcesses(frozen: unknown): ProcessBook {
  const book = BOOK.thaw(frozen, { byAgent: new Map() });
  for (const instance of book.live.values()) enterLive(book, instance);
  return book;
}

/** For evolve. */
export function enterLive(book: ProcessBook, instance: Instance): void {
  const { id, agent } = instance;
  const mine = book.byAgent.get(agent);
  if (mine === undefined) book.byAgent.set(agent, new Set([id]));
  else mine.add(id);
  book.live.set(id, instance);
}

export function instancesOf(book: ProcessView, agent: string): Instance[] {
  const ids = [...(book.byAgent.get(agent) ?? [])];
  return ids.flatMap((id) => book.live.get(id) ?? []);
}
