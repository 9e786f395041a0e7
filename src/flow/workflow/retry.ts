/**
 * When a failed attempt is tried again: how often, how soon, and for which errors. Delays grow by a factor
 * up to a limit and are spread by chance, so that many that failed together do not come back together.
 */
import { GuardRefused } from '../../guard/decision.ts';
import { DefinitionError } from './errors.ts';
import { TerminalError } from './terminal-error.ts';

/**
 * How a step is tried again.
 *
 * @example
 * ```ts
 * const patient: RetryPolicy = { attempts: 8, delayMs: 500, limitMs: 60_000, deadlineMs: 600_000 };
 * await ctx.step('upload', upload, { retry: patient });
 * ```
 */
export interface RetryPolicy {
  /** All in all, the first included. Default 1: it is not tried again. */
  readonly attempts?: number;
  /** Before the second attempt. Default 200. */
  readonly delayMs?: number;
  /** By how much each delay is longer than the one before. Default 2. */
  readonly factor?: number;
  /** The longest delay. Default 60,000. */
  readonly limitMs?: number;
  /** The share of a delay that chance takes off: 0 none, 1 all of it. Default 0.5. */
  readonly jitter?: number;
  /** No attempt begins later than this after the first did. */
  readonly deadlineMs?: number;
  /** Whether an error is worth another attempt; a `TerminalError` never is. */
  readonly when?: (error: unknown) => boolean;
}

export type FullRetry = Required<Omit<RetryPolicy, 'deadlineMs' | 'when'>> &
  Pick<RetryPolicy, 'deadlineMs' | 'when'>;

export function checkRetry(whose: string, policy: RetryPolicy = {}): FullRetry {
  const full = {
    ...{ attempts: 1, delayMs: 200, factor: 2, limitMs: 60_000, jitter: 0.5 },
    ...policy,
  };
  const bad = (what: string): never => {
    throw new DefinitionError('retry.invalid', `${whose}: retry.${what}`);
  };
  if (!Number.isInteger(full.attempts) || full.attempts < 1) {
    bad(`attempts is ${full.attempts}; give a whole number from 1 on`);
  }
  if (!(full.delayMs >= 0)) bad(`delayMs is ${full.delayMs}; give 0 or more`);
  if (!(full.limitMs >= 0)) bad(`limitMs is ${full.limitMs}; give 0 or more`);
  if (!(full.factor >= 1)) bad(`factor is ${full.factor}; give 1 or more`);
  if (!(full.jitter >= 0 && full.jitter <= 1)) {
    bad(`jitter is ${full.jitter}; give 0 to 1`);
  }
  if (full.deadlineMs !== undefined && !(full.deadlineMs >= 0)) {
    bad(`deadlineMs is ${full.deadlineMs}; give 0 or more`);
  }
  return full;
}

/**
 * How long to wait before the next attempt; null when there is none. `attempt` has failed, the first began
 * `sinceMs` ago, and `chance` is from 0 to 1.
 */
export function nextDelayMs(
  policy: FullRetry,
  attempt: number,
  error: unknown,
  sinceMs: number,
  chance: number,
): number | null {
  if (attempt >= policy.attempts || isTerminal(error, policy)) return null;
  const grown = Math.min(policy.limitMs, policy.delayMs * policy.factor ** (attempt - 1));
  const spread = grown * (1 - policy.jitter * chance);
  const delayMs = Math.ceil(Math.max(spread, retryAfterOf(error)));
  if (policy.deadlineMs !== undefined && sinceMs + delayMs > policy.deadlineMs) return null;
  return delayMs;
}

export function isTerminal(error: unknown, policy: Pick<RetryPolicy, 'when'> = {}): boolean {
  if (error instanceof TerminalError || error instanceof DefinitionError) return true;
  // What the guard refuses once it refuses again.
  if (error instanceof GuardRefused) return true;
  if (policy.when === undefined) return false;
  try {
    return !policy.when(error);
  } catch {
    // A filter that fails says nothing about the error.
    return false;
  }
}

function retryAfterOf(error: unknown): number {
  const after =
    typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : 0;
  return typeof after === 'number' && after > 0 && Number.isFinite(after) ? after : 0;
}
