/**
 * The config of a bus, parsed: the reference's schema (pools, six limits, transport) and our
 * additions, every default filled in. `parse-config.ts` makes it and names the field it refuses.
 */
import type { PingProbe, ReadyProbe, RestartPolicy } from '../process/spec.ts';
import type { Limits } from './config-limits.ts';

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

/** The first rule that matches decides; without one it is allowed. */
export interface PolicyRule {
  readonly effect: 'allow' | 'deny';
  /** A prefix of the method. */
  readonly method: string | null;
  readonly pool: string | null;
  readonly subject: string | null;
  readonly role: string | null;
  /** Told to the client that is denied. */
  readonly reason: string | null;
}

/** A client that may come over TCP: the token's SHA-256 in hex, never the token. */
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
