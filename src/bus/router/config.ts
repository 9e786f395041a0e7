/**
 * The config of a bus, parsed: the reference's schema (pools, six limits, transport) and our
 * additions, every default filled in. `parse-config.ts` makes it and names the field it refuses.
 */
import type { PingProbe, ReadyProbe, RestartPolicy } from '../process/spec.ts';

export interface PoolConfig {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly instances: number;
  /** Variables set for the worker. */
  readonly env: Readonly<Record<string, string>>;
  /** Names, or prefixes with a `*` at the end, taken over from the bus's own environment. */
  readonly envAllow: readonly string[];
  readonly cwd: string | null;
  readonly restart: RestartPolicy;
  readonly ready: ReadyProbe | null;
  readonly ping: PingProbe | null;
  readonly hangMs: number | null;
  /** Requests one worker is given at once; more wait in the bus. */
  readonly inFlightMax: number;
  /** `agentId`s that mean this pool. */
  readonly agents: readonly string[];
  /** Method prefixes that mean this pool; the longest match of all pools wins. */
  readonly methods: readonly string[];
}

export interface Limits {
  /** `max_input_buffer`: bytes of one message. */
  readonly messageBytesMax: number;
  /** `max_output_queue`: bytes queued toward one client or one worker. */
  readonly queueBytesMax: number;
  /** `max_restarts` */
  readonly restartsMax: number;
  /** `restart_window_sec` */
  readonly restartWindowMs: number;
  /** `drain_timeout_sec` */
  readonly drainMs: number;
  /** `backpressure_timeout_sec` */
  readonly backpressureMs: number;
  /** `request_timeout_sec`: how long a request may take when it does not say. */
  readonly requestMs: number;
  /** `session_idle_sec`: a session nobody used for so long is forgotten. */
  readonly sessionIdleMs: number;
  /** `max_sessions`: above it the session idle for longest is forgotten. */
  readonly sessionsMax: number;
  /** `max_pending`: requests without an answer, all clients together. */
  readonly pendingMax: number;
  /** `max_clients` */
  readonly clientsMax: number;
  /** `max_missed`: notifications kept for a session whose clients are away. */
  readonly missedMax: number;
  /** `max_missed_bytes`: for all such sessions together. */
  readonly missedBytesMax: number;
  /** `max_stray_lines` */
  readonly straysMax: number;
  /** `restart_delay_ms`: the first wait before a restart. */
  readonly restartWaitMsMin: number;
  /** `idempotency_sec`: how long an answer is kept for its key. */
  readonly keyMs: number;
}

/** First match wins; nothing matched: allowed. */
export interface PolicyRule {
  readonly effect: 'allow' | 'deny';
  /** A prefix of the method. */
  readonly method: string | null;
  readonly pool: string | null;
  readonly subject: string | null;
  readonly role: string | null;
  /** Said to whoever is denied. */
  readonly reason: string | null;
}

/** Somebody who may come over TCP: the token's SHA-256 in hex, never the token. */
export interface KnownClient {
  readonly subjectId: string;
  readonly role: string;
  readonly tokenHash: string;
}

export interface TransportConfig {
  readonly mode: 'stdio' | 'unix' | 'tcp' | null;
  readonly framing: 'ndjson' | 'length';
}

export interface BusConfig {
  readonly pools: readonly PoolConfig[];
  readonly limits: Limits;
  readonly transport: TransportConfig;
  readonly policy: readonly PolicyRule[];
  readonly clients: readonly KnownClient[];
}

export const DEFAULT_LIMITS: Limits = {
  messageBytesMax: 10_485_760,
  queueBytesMax: 41_943_040,
  restartsMax: 5,
  restartWindowMs: 60_000,
  drainMs: 30_000,
  backpressureMs: 60_000,
  requestMs: 3_600_000,
  sessionIdleMs: 3_600_000,
  sessionsMax: 65_536,
  pendingMax: 262_144,
  clientsMax: 1_024,
  missedMax: 256,
  missedBytesMax: 16_777_216,
  straysMax: 100,
  restartWaitMsMin: 100,
  keyMs: 600_000,
};
