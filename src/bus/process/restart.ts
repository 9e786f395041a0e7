/**
 * Whether, and when, a worker that went down is started again. Pure: the time and the chance are
 * arguments, and the answer carries the history to ask with the next time.
 *
 * The place is given up when its policy says so [RS1] or when it was restarted too often inside the
 * sliding window [RS2]. Waits double with jitter [RS3] and begin anew after health [RS4].
 */
import type { RestartLimits } from './spec.ts';

/** What is remembered between two ends. It never holds more stamps than `restartsMax`. */
export interface RestartHistory {
  /** When it was decided to restart, inside the window, oldest first. */
  readonly restartedAt: readonly number[];
  /** Restarts since it was last healthy: the exponent of the wait. */
  readonly inARow: number;
}

export interface WorkerEnd {
  readonly at: number;
  /** It was ready and exited with 0 by itself. */
  readonly isClean: boolean;
  /** How long it was ready; null when it never was. */
  readonly readyForMs: number | null;
}

export interface RestartPlan {
  /** Null: never. */
  readonly waitMs: number | null;
  /** Why never, in words that end a sentence; null when it is started again. */
  readonly because: string | null;
  readonly history: RestartHistory;
}

export const NO_RESTARTS: RestartHistory = { restartedAt: [], inARow: 0 };

/** Two to this power is more than any wait: the exponent stops here, or it would overflow. */
const DOUBLINGS_MAX = 30;

export function planRestart(
  limits: RestartLimits,
  history: RestartHistory,
  end: WorkerEnd,
  random: () => number,
): RestartPlan {
  const { policy, restartsMax, windowMs, healthyAfterMs } = limits;
  const recent = history.restartedAt.filter((at) => at > end.at - windowMs);
  const wasHealthy = end.readyForMs !== null && end.readyForMs >= healthyAfterMs;
  const inARow = wasHealthy ? 0 : history.inARow;
  const kept = { restartedAt: recent, inARow };
  if (policy === 'never' || restartsMax <= 0) {
    return { waitMs: null, because: 'it is not to be restarted', history: kept };
  }
  if (policy === 'on-failure' && end.isClean) {
    return { waitMs: null, because: 'it is restarted only after a failure', history: kept };
  }
  if (recent.length >= restartsMax) {
    const because = `it was restarted ${recent.length} times within ${windowMs / 1000} s`;
    return { waitMs: null, because, history: kept };
  }
  return {
    waitMs: waitMs(limits, inARow, random),
    because: null,
    history: { restartedAt: [...recent, end.at], inARow: inARow + 1 },
  };
}

/** Between half of the bound and the bound: apart from each other, and never at once. */
function waitMs(limits: RestartLimits, inARow: number, random: () => number): number {
  const doubled = limits.waitMsMin * 2 ** Math.min(inARow, DOUBLINGS_MAX);
  const bound = Math.min(doubled, limits.waitMsMax);
  return Math.round(bound / 2 + (bound / 2) * random());
}
