/** What is asked of definitions and instances, and what then happened. */
import type { Asked } from '../law/decider.ts';
import type { CardEvent } from '../work/card.ts';
import type { CardFields } from '../work/card-fields.ts';
import type { DefinitionFields, InstanceState, Usage } from './process-state.ts';

export interface DefineAgent extends Asked {
  readonly type: 'agent.define';
  readonly agent: string;
  readonly capabilities: readonly string[];
  readonly maxInstances: number;
  readonly isSingleton: boolean;
  /** By name; looked at here. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly card: CardFields | null;
}

export interface UndefineAgent extends Asked {
  readonly type: 'agent.undefine';
  readonly agent: string;
}

export interface StartInstance extends Asked {
  readonly type: 'instance.start';
  readonly agent: string;
  /** The caller holds it from the first moment; else it waits for a host. */
  readonly isHeld: boolean;
  readonly host: string | null;
  readonly leaseMs: number | null;
}

/** For a host: the one that waits longest, of these agents, or of all that the caller may host. */
export interface TakeInstance extends Asked {
  readonly type: 'instance.take';
  readonly agents: readonly string[] | null;
  readonly host: string | null;
  readonly leaseMs: number | null;
}

/** From a host: it lives, and where it is. Without a state it only renews. */
export interface ReportInstance extends Asked {
  readonly type: 'instance.report';
  readonly id: string;
  readonly epoch: number;
  readonly state: InstanceState | null;
  readonly pid: number | null;
  readonly usage: Usage | null;
  readonly reason: string | null;
  readonly lines: readonly string[];
}

export interface StopInstances extends Asked {
  readonly type: 'instance.stop';
  /** One, or all of an agent. */
  readonly id: string | null;
  readonly agent: string | null;
  readonly reason: string | null;
}

export interface AgentDefined {
  readonly type: 'agent.defined';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
  readonly definition: DefinitionFields;
}

export interface AgentUndefined {
  readonly type: 'agent.undefined';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
}

export interface InstanceStarted {
  readonly type: 'instance.started';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly agent: string;
}

/** It has a holder now, under a new epoch. */
export interface InstanceTaken {
  readonly type: 'instance.taken';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly epoch: number;
  readonly host: string | null;
  readonly leaseMs: number;
}

export interface InstanceMoved {
  readonly type: 'instance.moved';
  readonly at: number;
  /** Who said so; the hub itself when a lease lapsed. */
  readonly by: string;
  readonly id: string;
  readonly state: InstanceState;
  readonly reason: string | null;
  readonly lines: readonly string[];
  readonly pid: number | null;
  /** Nobody holds it any more: its host was not heard of. */
  readonly isLapse?: true;
}

export interface InstanceRenewed {
  readonly type: 'instance.renewed';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly usage: Usage | null;
}

export type InstanceEvent = InstanceStarted | InstanceTaken | InstanceMoved | InstanceRenewed;
export type ProcessEvent = AgentDefined | AgentUndefined | InstanceEvent;
/** A card goes up and down with the instances of its agent. */
export type ProcessDecided = ProcessEvent | CardEvent;
