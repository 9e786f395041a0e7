/**
 * Time and turns, as the hub sees them. The server gives the real ones, the
 * simulator its own; nothing under hub/ can see a clock by itself.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once everything that has already arrived was handed over. */
  soon(run: () => void): void;
  /** Runs after a while; the answer cancels it. */
  after(ms: number, run: () => void): () => void;
}
