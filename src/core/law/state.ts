/**
 * The state of one space: indexes, cursors, leases. Message bodies are not here;
 * they stay in the log and are found again by position [M7].
 *
 * Only `evolve` functions and thawing change it; everybody else is handed a view.
 */

import { type ContextBook, createContext } from '../context/context-state.ts';
import { createDocket, type DocketBook } from '../docket/docket-state.ts';
import { createGates, type GateBook } from '../gates/gate-state.ts';
import { createProcesses, type ProcessBook } from '../processes/process-state.ts';
import { createSessions, type SessionBook } from '../sessions/session-state.ts';
import { ByMessage } from '../talk/by-message.ts';
import type { LowestCursor } from '../talk/lowest-cursor.ts';
import type { Positions } from '../talk/positions.ts';
import type { ThreadIndex } from '../threads/thread-index.ts';
import { createTurnBook, type Managed, type TurnBook, type Waking } from '../turns/turn-state.ts';
import { type CardBook, createCards } from '../work/card.ts';
import { type ClaimBook, createClaimBook } from '../work/claim/claim-state.ts';
import { createFindings, type FindingBook } from '../work/finding.ts';
import { createOffers, type OfferBook } from '../work/offer.ts';
import { createPlan, type PlanBook } from '../work/plan/plan.ts';
import { createWorkflows, type WorkflowBook } from '../workflows/run-state.ts';
import { Deadlines } from './deadlines.ts';
import { FifoMap } from './fifo-map.ts';
import type { Matcher } from './glob.ts';
import type { Heap } from './heap.ts';
import { DAY_MS } from './limits.ts';
import { createMade, type Made } from './made.ts';
import type { ChannelKind } from './name.ts';
import type { PrincipalKind, TrustTier } from './principal.ts';
import type { View } from './view.ts';

export interface World {
  settings: SpaceSettings;
  readonly channels: Map<string, Channel>;
  readonly agents: Map<string, Agent>;
  /** Glob subscriptions by pattern, so that a new channel finds its subscribers. */
  readonly globs: Map<string, Glob>;
  readonly groups: Map<string, Group>;
  /** Acks and unusual ends, by message position and agent. */
  readonly fates: ByMessage<Fate>;
  /** When each agent first replied, by the position of the parent. */
  readonly replies: ByMessage<Reply>;
  readonly keys: FifoMap<string, SentKey>;
  /** Keys that only guard a send against a broken connection. */
  readonly retries: FifoMap<string, SentKey>;
  readonly tokens: Map<string, Token>;
  readonly claims: ClaimBook;
  readonly plan: PlanBook;
  readonly offers: OfferBook;
  readonly cards: CardBook;
  readonly findings: FindingBook;
  /** What waits for a person. */
  readonly docket: DocketBook;
  readonly gates: GateBook;
  readonly turns: TurnBook;
  /** Agents as processes. */
  readonly processes: ProcessBook;
  /** Values that agents share. */
  readonly context: ContextBook;
  readonly sessions: SessionBook;
  /** Runs of workflows. */
  readonly workflows: WorkflowBook;
  readonly deadlines: Deadlines;
  /** Messages that wait for a person, by position, oldest first; refused ones wait no more. */
  readonly held: FifoMap<number, HeldPlace>;
  /** How much of what is bounded each agent has made: its share of it [SH1]. */
  readonly made: Made;
  /** Channels that were retired and not used since; the oldest are forgotten first. */
  readonly retired: FifoMap<string, Retired>;
  /** The stamp of the newest durable event. */
  recordedAt: number;
  /** The position the next durable event gets. */
  length: number;
  /** Memory only: since when this world is listened to; beats before may have been missed. */
  awakeFrom: number;
  /** The newest stamp seen; time never runs backwards here. */
  at: number;
}

export type WorldView = View<World>;
export type ChannelView = View<Channel>;
export type MemberView = View<Member>;
export type AgentView = View<Agent>;

export interface SpaceSettings {
  readonly isTypedOnly: boolean;
  readonly backpressureMode: BackpressureMode;
  readonly queueLimit: number;
  readonly idempotencyTtlMs: number;
  /** How long a channel without subscribers stays listed after its last message. */
  readonly retentionMs: number;
  readonly doesHoldUntrusted: boolean;
  /** How long a held message waits for a person before it expires. */
  readonly heldTtlMs: number;
  /** How long an agent to whom nothing is owed may stay away before it is forgotten. */
  readonly agentIdleMs: number;
  /** How old bodies, and old checkpoints and findings [CM14] [FI7], may get; null keeps them for ever. */
  readonly messageRetentionMs: number | null;
  readonly memoryRetentionMs: number | null;
  /** How often the supervisor looks, and when it offers a still task again; null is as by itself. */
  readonly superviseEveryMs: number | null;
  readonly stalledAfterMs: number | null;
  /** Whether a decider proves to be a person, or the owner's credential is enough for tier 1 [GT2]. */
  readonly gateProof: 'none' | null;
  /** How long such a proof lasts; null is as long as it does by itself. */
  readonly gateProofMs: number | null;
  /** How many claims, and offers, one agent may have; null is the bound of the law. */
  readonly claimsPerAgent: number | null;
  readonly offersPerAgent: number | null;
  /** How many turns of managed agents run at once [TN3]; null is as many as by itself. */
  readonly turnsParallelMax: number | null;
  /** What all turns of a day may cost; null is no limit [RA8]. */
  readonly turnsDayUsd: number | null;
  readonly turnsDayTokens: number | null;
}

export type BackpressureMode = 'advisory' | 'enforced';
export type ReplayPolicy = 'subscriber' | 'admin_only' | 'custom';

export interface ChannelSettings {
  /** JSON Schema text, or null when bodies are free. */
  readonly schema: string | null;
  /** Grows with every change of the schema, so that a stale check is noticed. */
  readonly schemaVersion: number;
  readonly replayPolicy: ReplayPolicy;
  /** Who may replay under `custom`: agent names or globs. */
  readonly replayAllow: readonly string[];
  readonly backpressureMode: BackpressureMode | null;
  readonly queueLimit: number | null;
  /** Instead of the space's, where one is given. */
  readonly messageRetentionMs: number | null;
  /** A post of tier 2 waits for a person [GT14]; null: it does not. */
  readonly doesGateTier2: true | null;
}

/** What a channel is for, and what its posts must be. */
export interface Described {
  readonly title: string | null;
  readonly description: string | null;
  /** It stays although nobody uses it. */
  readonly isStanding: boolean;
  /** The types a post may have; none: any. */
  readonly types: readonly string[];
  /** The tiers a post may have. */
  readonly tiers: readonly number[];
  /** JSON Schema text for the bodies of posts. */
  readonly postSchema: string | null;
  /** Grows with every change of what posts must be, so that a stale check is noticed. */
  readonly version: number;
  readonly by: string;
  readonly at: number;
}

export interface Channel {
  readonly name: string;
  /** Whose share it counts against; null for the hub's own. */
  readonly madeBy: string | null;
  readonly kind: ChannelKind;
  readonly positions: Positions;
  lastSentAt: number;
  /** Who is subscribed now, whatever the pattern. */
  readonly members: Map<string, Member>;
  /** Those of them that are managed. */
  readonly managed: Set<Member>;
  /** Who was: the last interval of each, for truthful receipts. */
  readonly past: Map<string, PastMember>;
  settings: ChannelSettings | null;
  /** The highest seq anybody ever drained. */
  drained: number;
  /** Members with nothing owed; while it is 0 a send need not visit them. */
  idleCount: number;
  readonly lowest: LowestCursor;
  /** Messages a person must release first, and those a person refused: readers pass them by. */
  held: Map<number, Held> | null;
  described: Described | null;
  /** Null until something is replied to, marked or posted. */
  threads: ThreadIndex | null;
}

/** An agent's place on a channel: what it is owed there, and how far it has read. */
export interface Member {
  readonly agent: Agent;
  readonly channel: Channel;
  /** How many of the agent's subscriptions match; at 0 it leaves. */
  patterns: number;
  /** Owed are seqs above this: what was sent while subscribed [S2]. */
  readonly from: number;
  /** The highest seq handed out. */
  cursor: number;
  /** Seqs at or below the cursor that are owed again, ascending. */
  again: number[];
  leased: Map<number, Leased> | null;
  /** How often each seq was handed out on lease. */
  deliveries: Map<number, number> | null;
  /** Whether something is owed; then it is in the agent's `ready`, by the oldest of it. */
  isReady: boolean;
  /** The position of the oldest message owed; 0 while nothing is. */
  oldest: number;
  heapIndex: number;
}

export interface PastMember {
  readonly from: number;
  readonly cursor: number;
  readonly until: number;
  /** Seqs at or below the cursor that it left unsettled: out on lease, owed again, or held. */
  readonly open: readonly number[];
}

export interface Leased {
  readonly until: number;
}

export interface Held {
  /** Why it is held; once refused, why it was. */
  readonly reason: string;
  readonly since: number;
  readonly isRefused: boolean;
  /** No person decided in time. */
  readonly isExpired?: true;
  /** It went with its turn, before anybody decided: said again, it is said anew [GT16]. */
  readonly isTakenBack?: true;
}

export interface HeldPlace {
  readonly by: string;
  readonly channel: string;
  readonly seq: number;
  readonly since: number;
  /** For those whom it may wake once it is released. */
  readonly waking?: Waking;
  /** The gate that decides on it, and nothing else does [GT14]. */
  readonly gate?: string;
}

export interface Retired {
  readonly at: number;
  readonly by: string;
}

export interface Agent {
  readonly name: string;
  /** Who made the name known, until the agent itself comes. */
  madeBy: string | null;
  /** It came by a door that vouches for its callers: only such a one lets it in again [I13]. */
  isVouched: boolean;
  readonly patterns: Set<string>;
  /** What an administrator made it, for those who speak to a role. */
  roles: readonly string[];
  readonly memberships: Map<string, Member>;
  /** Memberships with something owed, the oldest of it first. */
  readonly ready: Heap<Member>;
  /** Memberships with messages out on lease, and how many messages those are. */
  readonly leasing: Set<Member>;
  leasedCount: number;
  /** Its last recorded act. */
  seenAt: number;
  /** Positions shown on a live feed: first and last. */
  presented: readonly [from: number, to: number] | null;
  /** What it did with messages below this position may be forgotten. */
  fatesFrom: number;
  presence: Presence;
  /** Whether and how the hub sees to its turns. */
  managed: Managed | null;
}

export type PresenceState = 'online' | 'busy' | 'stale' | 'offline';

export interface Presence {
  state: PresenceState;
  /** Milliseconds; 0 = never. */
  beatAt: number;
  changedAt: number;
  staleMs: number;
  offlineMs: number;
}

export interface Glob {
  readonly matches: Matcher;
  readonly agents: Set<Agent>;
}

export interface Group {
  readonly id: string;
  readonly displayName: string | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly members: Map<string, GroupMember>;
}

export interface GroupMember {
  readonly status: 'active' | 'invited';
  readonly at: number;
  /** Who invited it, until it joins. */
  readonly by?: string;
}

export type AckStatus = 'received' | 'processing' | 'done' | 'nack';

export interface Fate {
  readonly state: AckStatus | 'dead' | 'expired';
  readonly reason: string | null;
  readonly at: number;
}

/** The first of an agent to a message. */
export interface Reply {
  readonly position: number;
  readonly at: number;
}

export interface SentKey {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
}

export interface Token {
  readonly id: string;
  readonly agent: string;
  readonly kind: PrincipalKind;
  readonly tier: TrustTier;
  /** Hex SHA-256 of the secret; the secret itself is never stored [I4]. */
  readonly hash: string;
  readonly label: string | null;
  /** What it may be spoken to as, while it lives [AD5]. */
  readonly roles: readonly string[];
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export const DEFAULT_SETTINGS: SpaceSettings = {
  isTypedOnly: false,
  backpressureMode: 'advisory',
  queueLimit: 1000,
  idempotencyTtlMs: DAY_MS,
  retentionMs: DAY_MS,
  doesHoldUntrusted: true,
  heldTtlMs: 14 * DAY_MS,
  agentIdleMs: 30 * DAY_MS,
  messageRetentionMs: null,
  memoryRetentionMs: null,
  superviseEveryMs: null,
  stalledAfterMs: null,
  gateProof: null,
  gateProofMs: null,
  claimsPerAgent: null,
  offersPerAgent: null,
  turnsParallelMax: null,
  turnsDayUsd: null,
  turnsDayTokens: null,
};

export function createWorld(): World {
  return {
    settings: DEFAULT_SETTINGS,
    channels: new Map(),
    agents: new Map(),
    globs: new Map(),
    groups: new Map(),
    fates: new ByMessage(),
    replies: new ByMessage(),
    keys: new FifoMap(),
    retries: new FifoMap(),
    tokens: new Map(),
    claims: createClaimBook(),
    plan: createPlan(),
    offers: createOffers(),
    cards: createCards(),
    findings: createFindings(),
    docket: createDocket(),
    gates: createGates(),
    turns: createTurnBook(),
    processes: createProcesses(),
    context: createContext(),
    sessions: createSessions(),
    workflows: createWorkflows(),
    deadlines: new Deadlines(),
    held: new FifoMap(),
    made: createMade(),
    retired: new FifoMap(),
    recordedAt: 0,
    length: 0,
    awakeFrom: 0,
    at: 0,
  };
}
