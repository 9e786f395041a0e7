/**
 * The exchange: everything the router's files share. One per bus; its numbers change as messages
 * pass, and nothing outside the router touches it.
 */
import { uniqueText } from '../process/secrets.ts';
import type { AuditRecord, BusLogLine, BusStats } from './bus.ts';
import type { Pools } from './choose-worker.ts';
import type { Clock } from './clock.ts';
import type { PolicyRule } from './config.ts';
import type { Limits } from './config-limits.ts';
import { createKeys, type Keys } from './idempotency.ts';
import { createSessions, type LostSession, type Sessions } from './sessions.ts';
import type { BusClient, Pool } from './state.ts';

export interface Exchange {
  /** Tells this bus's records from those of others. */
  readonly busId: string;
  /** Begins every id a worker sees: another client could name one that can be guessed. */
  readonly wirePrefix: string;
  readonly clock: Clock;
  readonly clients: Set<BusClient>;
  readonly sessions: Sessions;
  readonly keys: Keys;
  readonly stats: { -readonly [K in keyof BusStats]: BusStats[K] };
  readonly log: (level: BusLogLine['level'], text: string) => void;
  readonly audit: ((record: AuditRecord) => void) | null;
  /** There can be one client only: it may hear what a worker wrote to stderr. */
  readonly isPrivate: boolean;
  limits: Limits;
  policy: readonly PolicyRule[];
  pools: Pools;
  /** Requests without an answer. */
  pending: number;
  /** What waits for all clients together. */
  waitingBytes: number;
  /** No new requests: the bus is going. */
  isDraining: boolean;
  /** Ids given to workers and clients, and events: never twice. */
  lastId: number;
  /** Called when `pending` falls to zero while draining. */
  onQuiet: (() => void) | null;
}

export type ExchangeOptions = Pick<
  Exchange,
  'clock' | 'limits' | 'policy' | 'log' | 'audit' | 'isPrivate'
> & {
  /** Sessions were forgotten though clients that are here used them. */
  readonly onForgotten: (exchange: Exchange, lost: readonly LostSession[], reason: string) => void;
};

export function createExchange({ onForgotten, ...options }: ExchangeOptions): Exchange {
  const exchange: Exchange = {
    ...options,
    busId: uniqueText().slice(0, 8),
    wirePrefix: `s${uniqueText().slice(0, 8)}-`,
    clients: new Set(),
    sessions: createSessions(
      () => exchange.limits,
      (lost, reason) => onForgotten(exchange, lost, reason),
    ),
    keys: createKeys(),
    stats: {
      messages_in: 0,
      messages_out: 0,
      bytes_in: 0,
      bytes_out: 0,
      worker_restarts: 0,
      routing_errors: 0,
      client_connects: 0,
      client_disconnects: 0,
    },
    pools: { byId: new Map(), all: [] },
    pending: 0,
    waitingBytes: 0,
    isDraining: false,
    lastId: 0,
    onQuiet: null,
  };
  return exchange;
}

export function setPools(exchange: Exchange, pools: readonly Pool[]): void {
  exchange.pools = { byId: new Map(pools.map((pool) => [pool.config.id, pool])), all: pools };
}
