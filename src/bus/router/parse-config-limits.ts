/**
 * The limits of a config: the six names of the reference and ours. Each has its bounds here, and a
 * number outside them is refused by name; 0 is taken where the reference gives it a meaning.
 */
import { DEFAULT_LIMITS, type Limits } from './config.ts';
import type { ConfigReader, Fields, Range } from './parse-config-reader.ts';

/** A longer string is near the end of what the engine can hold. */
const MESSAGE_BYTES_LIMIT = 268_435_456;
const QUEUE_BYTES_LIMIT = 4_294_967_296;
const COUNT_LIMIT = 16_777_216;
/** Twenty-three days: a timer cannot count further. */
export const SECONDS_LIMIT = 2_000_000;

interface LimitRow extends Range {
  readonly name: string;
  readonly unit: 'whole' | 'seconds';
  /** What 0 stands for, when the range does not begin there. */
  readonly isZeroDefault?: true;
}

const whole = (name: string, min: number, max: number): LimitRow => ({
  name,
  unit: 'whole',
  min,
  max,
});
const seconds = (name: string, min: number): LimitRow => ({
  name,
  unit: 'seconds',
  min,
  max: SECONDS_LIMIT,
});

/** One row a limit; the compiler refuses a missing one. */
export const LIMIT_ROWS: Readonly<Record<keyof Limits, LimitRow>> = {
  // The reference takes 0 for its buffers without saying what it means; nothing could pass.
  messageBytesMax: { ...whole('max_input_buffer', 1, MESSAGE_BYTES_LIMIT), isZeroDefault: true },
  queueBytesMax: { ...whole('max_output_queue', 1, QUEUE_BYTES_LIMIT), isZeroDefault: true },
  restartsMax: whole('max_restarts', 0, COUNT_LIMIT),
  restartWindowMs: seconds('restart_window_sec', 0),
  drainMs: seconds('drain_timeout_sec', 0),
  backpressureMs: seconds('backpressure_timeout_sec', 0),
  requestMs: seconds('request_timeout_sec', 0.001),
  sessionIdleMs: seconds('session_idle_sec', 0.001),
  sessionsMax: whole('max_sessions', 1, COUNT_LIMIT),
  pendingMax: whole('max_pending', 1, COUNT_LIMIT),
  clientsMax: whole('max_clients', 1, 65_536),
  missedMax: whole('max_missed', 0, COUNT_LIMIT),
  missedBytesMax: whole('max_missed_bytes', 0, QUEUE_BYTES_LIMIT),
  straysMax: whole('max_stray_lines', 0, COUNT_LIMIT),
  restartWaitMsMin: whole('restart_delay_ms', 0, 60_000),
  keyMs: seconds('idempotency_sec', 0),
};

export function parseLimits(reader: ConfigReader, value: unknown): Limits {
  if (value === undefined || value === null) return DEFAULT_LIMITS;
  const fields = reader.fields(value, 'limits');
  if (fields === null) return DEFAULT_LIMITS;
  const rows = Object.entries(LIMIT_ROWS) as [keyof Limits, LimitRow][];
  reader.remarkUnknown(
    fields,
    'limits',
    rows.map(([, { name }]) => name),
  );
  const limits = Object.fromEntries(rows.map(([key]) => [key, limitOf(reader, fields, key)]));
  return limits as unknown as Limits;
}

function limitOf(reader: ConfigReader, fields: Fields, key: keyof Limits): number {
  const row = LIMIT_ROWS[key];
  const field = `limits.${row.name}`;
  const value = fields[row.name];
  if (value === undefined) return DEFAULT_LIMITS[key];
  if (value === 0 && row.isZeroDefault) {
    reader.warn(field, `0 stands for the default, ${DEFAULT_LIMITS[key]}`);
    return DEFAULT_LIMITS[key];
  }
  return row.unit === 'whole' ? reader.whole(value, field, row) : reader.seconds(value, field, row);
}
