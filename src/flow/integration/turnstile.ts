/**
 * How often an integration may be called: so many at once, so many in a time, and none while it rests after
 * failing again and again [IG4]. After the rest one call is let through to try; if it fails, it rests again.
 */
import type { Defined } from './definition.ts';
import { IntegrationError } from './integration-error.ts';

/** Calls that wait for their turn. */
const WAITING_MAX = 100;

/**
 * Whether calls are let through: `open` refuses them, `trying` lets one see.
 *
 * @example
 * ```ts
 * const isRefusing = (state: BreakerState): boolean => state === 'open';
 * ```
 */
export type BreakerState = 'closed' | 'open' | 'trying';

export interface Turnstile {
  readonly state: BreakerState;
  readonly running: number;
  /** Throws why not; charges nothing. */
  look(): void;
  /** Waits for a place until the signal is aborted; call what it gives when the work is really over. */
  enter(signal: AbortSignal): Promise<() => void>;
  succeeded(): void;
  failed(): void;
}

export function createTurnstile(defined: Defined, now: () => number = Date.now): Turnstile {
  const { name, concurrency, rate, breaker } = defined;
  const waiting: (() => void)[] = [];
  let running = 0;
  let failures = 0;
  let restUntil = 0;
  /** The call that is let through to try; null while none is. */
  let trial: object | null = null;
  let tokens = rate?.limit ?? 0;
  let filledAt = now();

  const stateOf = (): BreakerState => {
    if (failures < breaker.failures) return 'closed';
    return now() < restUntil || trial !== null ? 'open' : 'trying';
  };

  function checkBreaker(): void {
    if (stateOf() !== 'open') return;
    const retryAfterMs = Math.max(1, restUntil - now());
    const message = `${name} failed ${failures} times in a row and is left alone for ${retryAfterMs} ms`;
    throw new IntegrationError(message, { code: 'integration.open', retryAfterMs });
  }

  function checkRate(): void {
    if (rate === null) return;
    const perMs = rate.limit / rate.perMs;
    const at = now();
    tokens = Math.min(rate.limit, tokens + Math.max(0, at - filledAt) * perMs);
    filledAt = at;
    if (tokens >= 1) return;
    const retryAfterMs = Math.ceil((1 - tokens) / perMs);
    const message = `${name} may be called ${rate.limit} times in ${rate.perMs} ms`;
    throw new IntegrationError(message, { code: 'integration.rate', retryAfterMs });
  }

  function look(): void {
    checkBreaker();
    checkRate();
    if (running >= concurrency && waiting.length >= WAITING_MAX) {
      throw new IntegrationError(
        `${name} runs ${running} times and ${waiting.length} calls wait: call again later`,
        { code: 'integration.busy' },
      );
    }
  }

  function waitForPlace(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(signal.reason);
      };
      const take = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      if (signal.aborted) return reject(signal.reason);
      waiting.push(take);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    get state() {
      return stateOf();
    },
    get running() {
      return running;
    },
    look,
    async enter(signal) {
      look();
      if (rate !== null) tokens--;
      if (running < concurrency) running++;
      else await waitForPlace(signal);
      // Whoever waited was handed its place; meanwhile the others may have failed.
      const mine = {};
      const leave = (): void => {
        if (trial === mine) trial = null;
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      };
      try {
        checkBreaker();
      } catch (error) {
        leave();
        throw error;
      }
      if (stateOf() === 'trying') trial = mine;
      return leave;
    },
    succeeded() {
      failures = 0;
      trial = null;
    },
    failed() {
      failures++;
      trial = null;
      if (failures >= breaker.failures) restUntil = now() + breaker.restMs;
    },
  };
}
