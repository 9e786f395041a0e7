/**
 * Deadlines become commands [H6]: the alarm wakes when the soonest is due and asks
 * for a tick. It never spins: while the hub is down it sleeps until recovery sets
 * it again, and a full queue is tried again after a pause.
 */
import type { Deadlines } from '../core/law/deadlines.ts';
import type { Clock } from './clock.ts';

/** A timer further away than this is set in stages; real ones overflow at 2^31 ms. */
const STAGE_MS_MAX = 3_600_000;
const PAUSE_MS = 100;
/** Many deadlines may pass together, after a restart say; a round asks for at most this many ticks. */
const TICKS_MAX = 256;

export type TickOutcome = 'ticked' | 'refused' | 'down';

export interface Alarm {
  /** Looks at the deadlines again; call it whenever they may have changed. */
  set(): void;
  close(): void;
}

export function createAlarm(
  clock: Clock,
  stamp: () => number,
  deadlines: () => Deadlines,
  /** Asks for so many ticks and tells how the last of them ended. */
  tick: (count: number, done: (outcome: TickOutcome) => void) => void,
): Alarm {
  let cancel: (() => void) | null = null;
  let setFor = Number.POSITIVE_INFINITY;
  let isTicking = false;
  let isClosed = false;

  function wakeAt(at: number): void {
    cancel?.();
    setFor = at;
    cancel = clock.after(Math.min(Math.max(0, at - clock.now()), STAGE_MS_MAX), () => {
      cancel = null;
      setFor = Number.POSITIVE_INFINITY;
      ring(1);
    });
  }

  function set(): void {
    const due = deadlines().next?.at;
    if (isClosed || isTicking || due === undefined || setFor <= due) return;
    wakeAt(due);
  }

  function ring(count: number): void {
    if (isClosed || isTicking) return;
    isTicking = true;
    tick(count, (outcome) => {
      isTicking = false;
      if (isClosed || outcome === 'down') return;
      const due = deadlines().next?.at;
      if (due === undefined || due > stamp()) set();
      else if (outcome === 'refused') wakeAt(clock.now() + PAUSE_MS);
      else ring(Math.min(count * 2, TICKS_MAX));
    });
  }

  return {
    set,
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
