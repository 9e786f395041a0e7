/**
 * What the space knows of managed agents and their turns. An agent has at most one turn that has not
 * ended [TN3]; turns that have ended are remembered up to a bound.
 */
import { FifoMap } from '../law/fifo-map.ts';
import type { PrincipalKind, Standing, TrustTier } from '../law/principal.ts';
import type { View } from '../law/view.ts';
import type { Limits } from './agent-limits.ts';
import { type AgentRails, createRails, type RailBook } from './rails/rails.ts';

export interface TurnBook {
  /** By the name of the agent. */
  readonly agents: Map<string, Managed>;
  readonly turns: FifoMap<string, Turn>;
  /** Agents whose turn waits to be taken, the longest due first. */
  readonly waking: Set<string>;
  /** Turns that run. */
  busyCount: number;
  readonly rails: RailBook;
  /** The number of the next turn. */
  next: number;
}

/** `settling` is no state to be met in: who finishes is looked at in the same step [TN2]. */
export type AgentState = 'asleep' | 'waking' | 'busy' | 'failed' | 'parked' | 'paused';

export interface WakeRule {
  /** Names or globs of channels. */
  readonly channels: readonly string[] | null;
  /** Names or globs of senders. */
  readonly from: readonly string[] | null;
  readonly kinds: readonly PrincipalKind[] | null;
  readonly minTier: TrustTier | null;
}

export interface ManagedConfig {
  /** JSON text: the law does not look inside. */
  readonly runner: string;
  readonly runnerKind: string;
  readonly wake: WakeRule;
  readonly limits: Limits;
  readonly session: 'resume' | 'fresh';
  /** Operations that its turns may use; absent: all that are for agents [TN17]. */
  readonly tools?: readonly string[];
}

export interface Managed {
  readonly agent: string;
  config: ManagedConfig;
  managedAt: number;
  managedBy: string;
  state: AgentState;
  /** Since when it is in that state, and why where that needs a word. */
  since: number;
  why: string | null;
  /** Grows with every turn that is taken: who has an older one is fenced off [TN6]. */
  epoch: number;
  /** The turn that has not ended. */
  turn: string | null;
  /** What may wake it and is not settled yet, oldest first. */
  pending: Waking[];
  /** More than `pending` holds came: a person must look. */
  isFlooded: boolean;
  /** Asleep: when to look at `pending`; null while there is no reason to. */
  lookAt: number | null;
  /** When the first of those came that the next look gathers. */
  gatherFrom: number | null;
  /** Positions that turns were given and that are not read yet, the newest last. */
  given: number[];
  /** What the runner called the conversation that it may resume. */
  sessionRef: string | null;
  cost: Cost;
  turnCount: number;
  readonly rails: AgentRails;
  /** Messages that a guard rail kept from waking it and that are not told of yet. */
  stilled: Stilled[];
  /** While it is parked: the threads it is parked for, and who of the people spoke there since. */
  parkedFor: readonly number[];
  freedBy: string | null;
}

/** Why a message that asks stays without effect until a person has looked. */
export type Stillness = 'hops' | 'pair' | 'fruitless';

export interface Stilled {
  readonly position: number;
  readonly root: number;
  readonly by: string;
  readonly cause: Stillness;
}

/** A message that may begin a turn, with what is known of it without its body. */
export interface Waking {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
  readonly at: number;
  readonly by: string;
  readonly as: Standing | null;
  /** Whose act the hub tells of. */
  readonly actor?: string;
  readonly replyTo: number | null;
  readonly expiresAt: number | null;
  readonly asks: Asks | null;
  /** The trace it was sent in. */
  readonly trace?: string;
}

/** What a body asks of whom; found by the desk, because the law never looks into a body. */
export interface Asks {
  readonly names: readonly string[];
  readonly isQuestion: boolean;
  readonly wantsReply: boolean;
  readonly noReply: boolean;
}

export interface Cost {
  readonly usd: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

export const NO_COST: Cost = { usd: 0, tokensIn: 0, tokensOut: 0 };

export type TurnState =
  | 'waking'
  | 'busy'
  | 'failed'
  | 'done'
  | 'nothing'
  | 'gave_up'
  | 'dead'
  | 'cancelled'
  | 'passed';

/** Never changed in place. */
export interface Turn {
  readonly id: string;
  readonly agent: string;
  readonly state: TurnState;
  readonly messages: readonly Waking[];
  readonly runnerKind: string;
  readonly dueAt: number;
  /** Of the attempt that runs or ran last; 0 before the first. */
  readonly epoch: number;
  readonly attempt: number;
  readonly failures: number;
  readonly isAfterRestart: boolean;
  readonly takenAt: number | null;
  readonly takenBy: string | null;
  readonly leaseMs: number;
  readonly leaseUntil: number | null;
  /** Hex SHA-256 of the secret of its token, and of those of the runs before, which are told stale. */
  readonly hash: string | null;
  readonly spent: readonly string[];
  readonly retryAt: number | null;
  readonly endedAt: number | null;
  readonly sends: number;
  readonly pid: number | null;
  readonly transcript: string | null;
  readonly note: string | null;
  /** Of the attempts that are over. */
  readonly cost: Cost | null;
  /** Of the one that runs, so far, and when that was stored. */
  readonly running: Cost | null;
  readonly runningAt: number;
  /** It ended well and read nothing of what it was given. */
  readonly isFruitless: boolean;
  /** The trace it belongs to, under the span of its last run [TL10]. */
  readonly trace?: string;
  /** Of the server that runs it or ran it last, where several serve the space [TN18]. */
  readonly incarnation?: string;
}

export type TurnBookView = View<TurnBook>;
export type ManagedView = View<Managed>;

export function createTurnBook(): TurnBook {
  return {
    agents: new Map(),
    turns: new FifoMap(),
    waking: new Set(),
    busyCount: 0,
    next: 1,
    rails: createRails(),
  };
}

/** The turn of an agent that has not ended. */
export function currentTurn(book: TurnBookView, managed: ManagedView): Turn | null {
  return managed.turn === null ? null : (book.turns.get(managed.turn) ?? null);
}
