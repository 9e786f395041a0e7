/**
 * What the router remembers: clients, links to workers, sessions, and the asks between them.
 * Plain records that only the router's files change. An ask is in exactly one place until it is
 * answered: waiting in its pool, waiting for its session's worker, or in flight on a link [BU1].
 */
import type { Line } from '../process/line.ts';
import type { Worker } from '../process/worker.ts';
import type { Batch } from './batch.ts';
import type { PoolConfig } from './config.ts';
import type { Identity } from './identity.ts';
import type { KeptAnswer } from './keys.ts';
import type { Peer } from './peer.ts';
import { createWaiting, type Item, type Waiting } from './waiting.ts';

/** One attached client. */
export interface Client {
  readonly peer: Peer;
  /** Its requests without an answer, by the raw text of their id. */
  readonly asks: Map<string, Ask>;
  /** Questions of workers it has not answered, by the id it was given. */
  readonly questions: Map<string, Question>;
  readonly sessions: Set<Session>;
  /** Links whose output stands still because this client does not read. */
  readonly blocks: Set<Link>;
  /** Calls off the end of its patience; null while it reads. */
  stopPatience: (() => void) | null;
  identity: Identity | null;
  isGone: boolean;
}

/** A request of a client, from its arrival to its one answer. */
export interface Ask {
  readonly client: Client;
  /** The raw text of the id the client gave it. */
  readonly id: string;
  /** The raw text of the id the worker sees. */
  wireId: string;
  readonly method: string;
  readonly pools: readonly Pool[];
  readonly session: Session | null;
  readonly startedAt: number;
  /** Where it waits, until a worker has it. */
  item: Item | null;
  queue: Waiting | null;
  link: Link | null;
  /** Its number among what the link's worker was sent. */
  sequence: number;
  isDone: boolean;
  stopDeadline: (() => void) | null;
  readonly batch: Batch | null;
  kept: KeptAnswer | null;
  readonly parentEventId: string | null;
  readonly claimedSubject: string | null;
  /** An older ask of the same client with the same id: both are answered. */
  twin: Ask | null;
}

/** A request of a worker to a client. */
export interface Question {
  readonly link: Link;
  readonly client: Client;
  readonly id: string;
  readonly wireId: string;
  readonly stopDeadline: () => void;
}

export interface Session {
  readonly id: string;
  /** Whose it is: nobody else may join it. Null: of those the bus does not know. */
  readonly subject: string | null;
  link: Link | null;
  /** Who used it, in order; the first still here answers the worker's questions. */
  readonly clients: Set<Client>;
  readonly asks: Set<Ask>;
  /** Items of it that wait in a pool: later ones must queue behind them, in that pool. */
  queued: number;
  queuedIn: Pool | null;
  lastUsed: number;
  missed: Line[] | null;
  missedBytes: number;
  /** Notifications that no longer fitted into `missed`. */
  dropped: number;
}

/** A worker, and everything that hangs on it. */
export interface Link {
  readonly worker: Worker;
  readonly pool: Pool;
  readonly inFlight: Map<string, Ask>;
  /** Requests that were answered without the worker, which may still be busy with them: id, since when. */
  readonly abandoned: Map<string, number>;
  readonly questions: Map<string, Question>;
  readonly sessions: Set<Session>;
  readonly blockedBy: Set<Client>;
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
  /** Why the last worker went down: the error of whoever finds the pool empty says it. */
  lastReason: string | null;
  /** The same with its last words, for whoever runs the bus. */
  lastDown: string | null;
}

export function createPool(config: PoolConfig): Pool {
  return { config, links: [], waiting: createWaiting(), turn: 0, lastReason: null, lastDown: null };
}

export function createLink(worker: Worker, pool: Pool): Link {
  return {
    worker,
    pool,
    inFlight: new Map(),
    abandoned: new Map(),
    questions: new Map(),
    sessions: new Set(),
    blockedBy: new Set(),
    waiting: createWaiting(),
    isRetiring: false,
    onIdle: null,
  };
}

export function createClient(peer: Peer): Client {
  return {
    peer,
    asks: new Map(),
    questions: new Map(),
    sessions: new Set(),
    blocks: new Set(),
    stopPatience: null,
    identity: peer.identity,
    isGone: false,
  };
}

/** What a worker has to do, done or not yet begun. */
export const loadOf = (link: Link): number =>
  link.inFlight.size + link.abandoned.size + link.waiting.length;
