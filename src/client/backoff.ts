/**
 * How long to wait before trying again: exponential, with full jitter [K5], so that
 * a thousand clients of a restarted hub do not come back in the same instant.
 */
export interface ReconnectOptions {
  /** The bound of the first wait. */
  readonly minMs?: number;
  /** The bound of every wait. */
  readonly maxMs?: number;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

export interface Backoff {
  /** The next wait, in milliseconds. */
  next(): number;
  /** To be called once a connection has proved itself. */
  reset(): void;
}

const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 30_000;

export function createBackoff(options: ReconnectOptions = {}): Backoff {
  const { minMs = RECONNECT_MS_MIN, maxMs = RECONNECT_MS_MAX, random = Math.random } = options;
  let boundMs = minMs;
  return {
    next() {
      const waitMs = Math.floor(random() * Math.min(boundMs, maxMs));
      boundMs = Math.min(boundMs * 2, maxMs);
      return waitMs;
    },
    reset() {
      boundMs = minMs;
    },
  };
}
