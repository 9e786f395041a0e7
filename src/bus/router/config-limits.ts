/**
 * The limits of a bus: the six of the reference and ours, each with its name in the config, its
 * bounds and its default. A number outside the bounds is refused by name; 0 is taken where the
 * reference gives it a meaning.
 */
import { type Reader, record, type Shape, seconds, whole } from './config-reader.ts';

export interface Limits {
  /** Bytes of one message. */
  readonly messageBytesMax: number;
  /** Bytes queued toward one client or one worker. */
  readonly queueBytesMax: number;
  readonly restartsMax: number;
  readonly restartWindowMs: number;
  readonly drainMs: number;
  readonly backpressureMs: number;
  /** How long a request may take that does not say. */
  readonly requestMs: number;
  /** A session not used for so long is forgotten. */
  readonly sessionIdleMs: number;
  /** Above it the session idle for longest is forgotten. */
  readonly sessionsMax: number;
  /** Requests without an answer, all clients together. */
  readonly pendingMax: number;
  readonly clientsMax: number;
  /** Notifications kept for a session whose clients are away. */
  readonly missedMax: number;
  /** For all such sessions together. */
  readonly missedBytesMax: number;
  readonly straysMax: number;
  /** The first wait before a restart. */
  readonly restartWaitMsMin: number;
  /** How long an answer is kept for its idempotency key. */
  readonly keyMs: number;
}

/** A longer string is near the end of what the engine can hold. */
const MESSAGE_BYTES_LIMIT = 268_435_456;
const QUEUE_BYTES_LIMIT = 4_294_967_296;
const COUNT_LIMIT = 16_777_216;
/** Twenty-three days: a timer cannot count further. */
export const SECONDS_LIMIT = 2_000_000;

interface LimitRow {
  readonly name: string;
  readonly unit: 'whole' | 'seconds';
  /** In the unit of the config. */
  readonly usual: number;
  readonly min: number;
  readonly max: number;
  /** 0 stands for the default, though it lies outside the bounds. */
  readonly isZeroDefault?: true;
}

const count = (name: string, usual: number, min: number, max: number): LimitRow => ({
  ...{ name, unit: 'whole', usual, min, max },
});
const sec = (name: string, usual: number, min: number): LimitRow => ({
  ...{ name, unit: 'seconds', usual, min, max: SECONDS_LIMIT },
});
/** The reference takes 0 for its buffers without saying what it means; nothing could pass. */
const buffer = (name: string, usual: number, max: number): LimitRow => ({
  ...count(name, usual, 1, max),
  isZeroDefault: true,
});

/** One row a limit; the compiler refuses a missing one. */
export const LIMIT_ROWS: Readonly<Record<keyof Limits, LimitRow>> = {
  messageBytesMax: buffer('max_input_buffer', 10_485_760, MESSAGE_BYTES_LIMIT),
  queueBytesMax: buffer('max_output_queue', 41_943_040, QUEUE_BYTES_LIMIT),
  restartsMax: count('max_restarts', 5, 0, COUNT_LIMIT),
  restartWindowMs: sec('restart_window_sec', 60, 0),
  drainMs: sec('drain_timeout_sec', 30, 0),
  backpressureMs: sec('backpressure_timeout_sec', 60, 0),
  requestMs: sec('request_timeout_sec', 3_600, 0.001),
  sessionIdleMs: sec('session_idle_sec', 3_600, 0.001),
  sessionsMax: count('max_sessions', 65_536, 1, COUNT_LIMIT),
  pendingMax: count('max_pending', 262_144, 1, COUNT_LIMIT),
  clientsMax: count('max_clients', 1_024, 1, 65_536),
  missedMax: count('max_missed', 256, 0, COUNT_LIMIT),
  missedBytesMax: count('max_missed_bytes', 16_777_216, 0, QUEUE_BYTES_LIMIT),
  straysMax: count('max_stray_lines', 100, 0, COUNT_LIMIT),
  restartWaitMsMin: count('restart_delay_ms', 100, 0, 60_000),
  keyMs: sec('idempotency_sec', 600, 0),
};

function perLimit<T>(make: (row: LimitRow) => T): Record<keyof Limits, T> {
  const rows = Object.entries(LIMIT_ROWS).map(([key, row]) => [key, make(row)]);
  return Object.fromEntries(rows) as Record<keyof Limits, T>;
}

const usualOf = ({ usual, unit }: LimitRow): number => (unit === 'whole' ? usual : usual * 1_000);

export const DEFAULT_LIMITS: Limits = perLimit(usualOf);

function limitReader(row: LimitRow): Reader<number> {
  const read = (row.unit === 'whole' ? whole : seconds)(row.min, row.max);
  return (value, field, report) => {
    if (value === undefined) return usualOf(row);
    if (value !== 0 || !row.isZeroDefault) return read(value, field, report);
    report.warn(field, `0 stands for the default, ${row.usual}`);
    return usualOf(row);
  };
}

const SHAPE: Shape<Limits> = perLimit((row) => [row.name, limitReader(row)] as const);
export const readLimits: Reader<Limits> = record(SHAPE);
