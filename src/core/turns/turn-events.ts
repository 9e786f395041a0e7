/** What is asked of turns and managed agents, and what then happens to them. */
import type { Asked } from '../law/decider.ts';
import type { Limits } from './agent-limits.ts';
import type { Cost, ManagedConfig, Stillness, Turn } from './turn-state.ts';

export interface ManageAgent extends Asked {
  readonly type: 'agent.manage';
  readonly agent: string;
  readonly config: Omit<ManagedConfig, 'limits'> & {
    readonly limits: Readonly<Record<string, unknown>>;
  };
}

export interface UnmanageAgent extends Asked {
  readonly type: 'agent.unmanage';
  readonly agent: string;
}

/** `agent` null: all that are managed. */
export interface PauseAgents extends Asked {
  readonly type: 'agent.pause';
  readonly agent: string | null;
  readonly reason: string | null;
}

export interface ResumeAgents extends Asked {
  readonly type: 'agent.resume';
  readonly agent: string | null;
}

export interface TakeTurn extends Asked {
  readonly type: 'turn.take';
  /** Whose turns; null: anybody's. */
  readonly agents: readonly string[] | null;
  /** Only of agents with such a runner; null: with any. */
  readonly runnerKinds: readonly string[] | null;
  /** Null: it must be renewed soon, and lasts as the agent's limits say from then on [TN6]. */
  readonly leaseMs: number | null;
  /** Of the secret that the turn runs with. */
  readonly hash: string | null;
  /** The span that its taker opens for it, as a `traceparent`. */
  readonly trace?: string | null;
  /** Of the server whose runners run it, where there are several; null or absent: of none. */
  readonly incarnation?: string | null;
}

export interface OnTurn extends Asked {
  readonly id: string;
  readonly epoch: number;
}

export interface RenewTurn extends OnTurn {
  readonly type: 'turn.renew';
  readonly leaseMs: number | null;
  readonly pid: number | null;
  readonly transcript: string | null;
  /** So far. */
  readonly cost: Cost | null;
}

export interface FinishTurn extends OnTurn {
  readonly type: 'turn.finish';
  readonly outcome: 'done' | 'failed' | 'gave_up' | 'nothing';
  /** What it said last, to notice that it repeats itself; it is not kept. */
  readonly output: string | null;
  readonly note: string | null;
  readonly sessionRef: string | null;
  readonly cost: Cost | null;
  /** Positions it was given and has read; `all` of them, or none beyond what it drained itself. */
  readonly consumed: 'all' | readonly number[] | null;
  /** The vendor would not go on: until when, where that was said. */
  readonly quota: Quota | null;
  /** The hub was started again under it: it is tried again at once, once [TN9]. */
  readonly isRestart: boolean;
}

export interface Quota {
  readonly kind: 'exhausted' | 'overloaded';
  readonly until: number | null;
}

export interface CancelTurn extends Asked {
  readonly type: 'turn.cancel';
  readonly id: string;
  readonly reason: string | null;
}

export interface RetryTurn extends Asked {
  readonly type: 'turn.retry';
  readonly id: string;
}

export interface AgentManaged {
  readonly type: 'agent.managed';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
  readonly config: ManagedConfig & { readonly limits: Limits };
}

export interface AgentUnmanaged {
  readonly type: 'agent.unmanaged';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
}

export interface AgentsPaused {
  readonly type: 'agent.paused';
  readonly at: number;
  readonly by: string;
  readonly agents: readonly string[];
  readonly reason: string | null;
}

export interface AgentsResumed {
  readonly type: 'agent.resumed';
  readonly at: number;
  readonly by: string;
  readonly agents: readonly string[];
}

/** It begins no turn until a person has looked. */
export interface AgentParked {
  readonly type: 'agent.parked';
  readonly at: number;
  readonly agent: string;
  /** A word: what was breached. */
  readonly cause: string;
  readonly text: string;
  readonly turn: string | null;
}

export interface TurnDue {
  readonly type: 'turn.due';
  readonly at: number;
  readonly agent: string;
  readonly id: string;
  /** Positions. */
  readonly messages: readonly number[];
}

/** A turn would be due, and something says: not yet. */
export interface TurnWaits {
  readonly type: 'turn.waits';
  readonly at: number;
  readonly agent: string;
  readonly until: number;
  readonly cause: string;
}

/** A message would have woken the agent, and a guard rail says that a person must look first. */
export interface TurnStilled {
  readonly type: 'turn.stilled';
  readonly at: number;
  readonly agent: string;
  readonly position: number;
  /** Where its thread began. */
  readonly root: number;
  readonly sender: string;
  readonly cause: Stillness;
}

/** What would have begun a turn is read, withdrawn or expired: there is none. */
export interface TurnPassed {
  readonly type: 'turn.passed';
  readonly at: number;
  readonly agent: string;
  readonly id: string | null;
}

export interface TurnTaken {
  readonly type: 'turn.taken';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly epoch: number;
  readonly leaseMs: number;
  readonly leaseUntil: number;
  readonly hash: string | null;
  readonly messages: readonly number[];
  readonly trace?: string;
  readonly incarnation?: string;
}

export interface TurnRenewed {
  readonly type: 'turn.renewed';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly leaseUntil: number;
  readonly pid?: number;
  readonly transcript?: string;
  readonly cost?: Cost;
}

export interface TurnFinished {
  readonly type: 'turn.finished';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly outcome: 'done' | 'gave_up' | 'nothing';
  readonly note: string | null;
  readonly sessionRef: string | null;
  readonly cost: Cost | null;
  readonly consumed: readonly number[];
  readonly sketch?: readonly number[];
}

export interface TurnFailed {
  readonly type: 'turn.failed';
  readonly at: number;
  readonly id: string;
  readonly cause: 'lapsed' | 'overran' | 'reported' | 'restart';
  readonly note: string | null;
  readonly sessionRef: string | null;
  readonly cost: Cost | null;
  /** Null: it was tried often enough. */
  readonly retryAt: number | null;
  readonly quota?: Quota;
}

export interface TurnRetried {
  readonly type: 'turn.retried';
  readonly at: number;
  readonly id: string;
}

export interface TurnDead {
  readonly type: 'turn.dead';
  readonly at: number;
  readonly id: string;
  readonly reason: string;
}

export interface TurnCancelled {
  readonly type: 'turn.cancelled';
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly reason: string | null;
  /** Its messages may begin a turn again. */
  readonly isKept?: true;
}

/** A person wants a turn that ended badly again: its messages are owed once more. */
export interface TurnRevived {
  readonly type: 'turn.revived';
  readonly at: number;
  readonly by: string;
  readonly id: string;
}

export type TurnEvent =
  | AgentManaged
  | AgentUnmanaged
  | AgentsPaused
  | AgentsResumed
  | AgentParked
  | TurnDue
  | TurnWaits
  | TurnStilled
  | TurnPassed
  | TurnTaken
  | TurnRenewed
  | TurnFinished
  | TurnFailed
  | TurnRetried
  | TurnDead
  | TurnCancelled
  | TurnRevived;

/** What whoever takes a turn is handed. */
export interface TakenTurn {
  readonly turn: Turn;
  readonly config: ManagedConfig;
  readonly sessionRef: string | null;
}
