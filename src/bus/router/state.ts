/**
 * What the router remembers: clients, links to workers, sessions, and the requests between them.
 * Plain records that only the router's files change. A request is in exactly one place until it is
 * answered: waiting in its pool, waiting for its session's worker, or in flight on a link [BU1].
 */

import type { ByteLine } from '../process/byte-line.ts';
import type { Envelope } from '../process/scan-message.ts';
import type { Worker } from '../process/worker.ts';
import type { Batch } from './batch.ts';
import type { PoolConfig } from './config.ts';
import { PassingMap } from './passing-map.ts';
import type { Identity, Peer } from './peer.ts';
import { createWaitingQueue, type Waitable, type WaitingQueue } from './waiting-queue.ts';

/** One attached client. */
export interface BusClient {
  readonly peer: Peer;
  /** Its requests without an answer, by the raw text of their id. */
  readonly requests: PassingMap<string, BusRequest>;
  /** How many those are, also where several have one id. */
  pending: number;
  /** How often the bus itself answered it, with an error. */
  refused: number;
  /** Notifications that it was given again because it attached. */
  replayed: number;
  /** Questions of workers it has not answered, by the id it was given. */
  readonly questions: Map<string, WorkerQuestion>;
  readonly sessions: Set<SessionRecord>;
  /** Links that have more for this client than it reads. */
  readonly blocks: Set<Link>;
  /** Calls off the end of its patience; null while it reads. */
  stopPatience: (() => void) | null;
  /** What waits for it, as it was last counted. */
  waitingBytes: number;
  identity: Identity | null;
  isGone: boolean;
}

/** A request of a client, from its arrival to its one answer. */
export interface BusRequest {
  readonly client: BusClient;
  /** The raw text of the id the client gave it. */
  readonly id: string;
  /** The raw text of the id the worker sees. */
  wireId: string;
  readonly method: string;
  /** Of a `session/prompt` of ACP: the agent's own id of the session, whose turn this is. */
  readonly turn: string | null;
  /** For the record. */
  readonly agentId: string | null;
  readonly pools: readonly Pool[];
  readonly session: SessionRecord | null;
  readonly startedAt: number;
  /** Where it waits, until a worker has it. */
  item: WaitingItem | null;
  queue: Waiting | null;
  link: Link | null;
  /** Whose share of the link it has, and then holds until the worker is done with it. */
  share: Share | null;
  /** Its number among what the link's worker was sent. */
  sequence: number;
  isDone: boolean;
  stopDeadline: (() => void) | null;
  readonly batch: Batch | null;
  kept: KeptAnswer | null;
  readonly parentEventId: string | null;
  readonly claimedSubject: string | null;
  /** An older request of the same client with the same id: both are answered. */
  twin: BusRequest | null;
}

/** What waits for a worker: a request, or a notification, which gets no answer. */
export interface WaitingItem extends Waitable {
  readonly owner: BusClient;
  request: BusRequest | null;
  readonly session: SessionRecord | null;
  /** The place of its session in the pool it was given to. */
  stay: Stay | null;
  /** It waits for any worker of a pool, not for a certain one. */
  isInPool: boolean;
}

type Waiting = WaitingQueue<WaitingItem>;

/** How much of a worker one client has: in flight, or given up and not yet answered. */
export interface Share {
  count: number;
}

/** A request that was answered without its worker, which may still be busy with it. */
export interface Abandoned {
  readonly at: number;
  readonly share: Share | null;
}

/** A request under an idempotency key, and its answer once there is one. */
export interface KeptAnswer {
  readonly key: string;
  /** A digest of method and params: the same key for another request is refused. */
  readonly print: string;
  readonly keptUntil: number;
  /** Repeats that came while the first one runs. */
  readonly waiting: Set<BusRequest>;
  answer: Envelope | null;
}

/** A request of a worker to a client. */
export interface WorkerQuestion {
  readonly link: Link;
  /** Who is asked. When it leaves, another client of the session is. */
  client: BusClient;
  readonly session: SessionRecord | null;
  readonly id: string;
  readonly wireId: string;
  readonly method: string | null;
  /** As clients get it. */
  readonly line: ByteLine;
  readonly stopDeadline: () => void;
}

export interface SessionRecord {
  readonly id: string;
  /** Whose it is: no other subject may join it. Null for clients without an identity. */
  readonly subject: string | null;
  /** Its place in the pool it came to first; the others follow by `next`. */
  home: Stay | null;
  /** Who used it, in order; the first still here answers the worker's questions. */
  readonly clients: Set<BusClient>;
  readonly requests: PassingMap<BusRequest, BusRequest>;
  lastUsed: number;
  /** Not the session of one call: those make room first. */
  isUsedAgain: boolean;
  /** The number its first notification followed: above all of those that had its id before. */
  readonly base: number;
  /** The number of its last notification. */
  last: number;
  /** The last one that was said while a client was there, or given to one later. */
  heard: number;
  /** The last notifications, up to `last`, as they were said. */
  kept: ByteLine[] | null;
  keptBytes: number;
}

/** Where a session lives in one pool. A session has as many as it has used pools. */
export interface Stay {
  readonly session: SessionRecord;
  /** A reload may put another pool in its place. */
  readonly poolId: string;
  link: Link | null;
  /** Items of it that wait in the pool: later ones must queue behind them, in that pool. */
  queued: number;
  queuedIn: Pool | null;
  next: Stay | null;
}

/** A worker, and everything that hangs on it. */
export interface Link {
  readonly worker: Worker;
  readonly pool: Pool;
  readonly inFlight: PassingMap<string, BusRequest>;
  /** By the id the worker knows. */
  readonly abandoned: Map<string, Abandoned>;
  readonly shares: Map<BusClient, Share>;
  readonly questions: Map<string, WorkerQuestion>;
  readonly stays: Set<Stay>;
  readonly blockedBy: Set<BusClient>;
  /** It is not read from, because nobody who wants something of it reads. */
  isHeld: boolean;
  /** What must go to this worker, while it is not ready or has enough. */
  readonly waiting: Waiting;
  /** Finishes what it has, and gets nothing new. */
  isRetiring: boolean;
  /** Called when nothing is in flight any more. */
  onIdle: (() => void) | null;
}

export interface Pool {
  config: PoolConfig;
  readonly links: Link[];
  /** What may go to any of them. */
  readonly waiting: Waiting;
  /** Where the next equally loaded choice begins. */
  turn: number;
  /** Why the last worker went down: told in the error when the pool is empty. */
  lastReason: string | null;
  /** The same with its last lines of stderr, for the operator. */
  lastDown: string | null;
}

export function createPool(config: PoolConfig): Pool {
  return {
    config,
    links: [],
    waiting: createWaitingQueue(),
    turn: 0,
    lastReason: null,
    lastDown: null,
  };
}

export function createLink(worker: Worker, pool: Pool): Link {
  return {
    worker,
    pool,
    inFlight: new PassingMap(),
    abandoned: new Map(),
    shares: new Map(),
    questions: new Map(),
    stays: new Set(),
    blockedBy: new Set(),
    isHeld: false,
    waiting: createWaitingQueue(),
    isRetiring: false,
    onIdle: null,
  };
}

export function createClient(peer: Peer): BusClient {
  return {
    peer,
    requests: new PassingMap(),
    pending: 0,
    refused: 0,
    replayed: 0,
    questions: new Map(),
    sessions: new Set(),
    blocks: new Set(),
    stopPatience: null,
    waitingBytes: 0,
    identity: peer.identity,
    isGone: false,
  };
}

/** What a worker has to do, done or not yet begun. */
export const loadOf = (link: Link): number =>
  link.inFlight.size + link.abandoned.size + link.waiting.length;

/** It owes an answer and waits for none: a worker that asks a person has all the time the person takes. */
export const isAwaited = ({ inFlight, abandoned, questions }: Link): boolean =>
  inFlight.size + abandoned.size > 0 && questions.size === 0;

export const createItem = (
  owner: BusClient,
  line: ByteLine,
  request: BusRequest | null,
  session: SessionRecord | null,
): WaitingItem => ({
  ...{ owner, line, request, session },
  ...{ stay: null, isInPool: false, isDropped: false },
});
