/**
 * The bus: pools of workers behind one JSON-RPC line. This is what doors, the SDK and the server
 * hold; the router inside it decides who gets what.
 *
 *   created → starting → running → stopping → stopped; one life per object.
 */
import type { Worker, WorkerEvents, WorkerNote } from '../process/worker.ts';
import type { Clock } from './clock.ts';
import type { BusConfig, PoolConfig } from './config.ts';
import type { Limits } from './config-limits.ts';
import type { Attachment, Peer, PeerClosing } from './peer.ts';

export type BusState = 'created' | 'starting' | 'running' | 'stopping' | 'stopped';

/** The eight counters of the reference: in is toward workers, out is toward clients. */
export interface BusStats {
  readonly messages_in: number;
  readonly messages_out: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly worker_restarts: number;
  readonly routing_errors: number;
  readonly client_connects: number;
  readonly client_disconnects: number;
}

export interface BusCounts {
  readonly workers: number;
  readonly clients: number;
  readonly sessions: number;
  readonly pending: number;
}

export interface BusLogLine {
  readonly level: WorkerNote['level'];
  readonly text: string;
}

/** One request's life, for the record. */
export interface AuditRecord {
  readonly eventId: string;
  readonly parentEventId: string | null;
  readonly action: string;
  readonly actor: Readonly<Record<string, string>>;
  /** The worker it was given to, also one that died with it. */
  readonly resource: string | null;
  /** As the client wrote them. */
  readonly agentId?: string;
  readonly sessionId?: string;
  /** `ok`, `error` (the worker said so), or the bus's own code. */
  readonly outcome: string;
  readonly timestamp: string;
  readonly durationMs: number;
}

export interface BusOptions {
  readonly config: BusConfig;
  /** Makes the workers of a pool, under the limits of the pool's config; the real one spawns processes. */
  readonly openWorker: (
    pool: PoolConfig,
    index: number,
    events: WorkerEvents,
    limits: Limits,
  ) => Worker;
  readonly clock?: Clock;
  readonly onLog?: (line: BusLogLine) => void;
  readonly onClient?: (label: string, event: 'connected' | PeerClosing) => void;
  readonly onAudit?: (record: AuditRecord) => void;
  /** There can be one client only, as over stdio: errors then carry the worker's last words. */
  readonly isPrivate?: boolean;
}

export interface ReloadReport {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface Bus {
  readonly state: BusState;
  readonly config: BusConfig;
  /** Ends when every pool has a worker ready; throws a BusStartError that names the pool which has none. */
  start(): Promise<void>;
  /** Lets a client in. Refused (null) while stopping, or when there are too many. */
  attach(peer: Peer): Attachment | null;
  /**
   * Takes the new config without dropping work: unchanged pools go on, removed ones drain, and
   * places that were given up are tried again.
   */
  reload(config: BusConfig): Promise<ReloadReport>;
  /** Refuses new requests, waits for answers, stops the workers, answers what is left with an error. */
  stop(timeoutMs?: number): Promise<void>;
  stats(): BusStats;
  counts(): BusCounts;
  workers(): readonly Worker[];
}
