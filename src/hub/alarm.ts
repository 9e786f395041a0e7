/**
 * What is due is recorded although nobody asks anything [H6]: the alarm wakes when the soonest
 * deadline is due and has the hub settle it. It never spins: while the hub is down it sleeps until
 * recovery sets it again, and a full queue is tried again after a pause.
 */
import type { Deadlines } from '../core/law/deadlines.ts';
import type { Clock } from './clock.ts';
import type { Stamps } from './stamps.ts';

/** A timer further away than this is set in stages; real ones overflow at 2^31 ms. */
const STAGE_MS_MAX = 3_600_000;
const PAUSE_MS = 100;

export type AlarmOutcome = 'settled' | 'refused' | 'down';

export interface Alarm {
  /** Looks at the deadlines again; call it whenever they may have changed. */
  set(): void;
  close(): void;
}

export function createAlarm(
  clock: Clock,
  stamps: Stamps,
  deadlines: () => Pick<Deadlines, 'next'>,
  /** Has all that is due recorded, and tells how that ended. */
  settle: (done: (outcome: AlarmOutcome) => void) => void,
): Alarm {
  let cancel: (() => void) | null = null;
  let setFor = Number.POSITIVE_INFINITY;
  let isRinging = false;
  let isClosed = false;

  function wakeAt(at: number): void {
    cancel?.();
    setFor = at;
    cancel = clock.after(Math.min(stamps.untilMs(at), STAGE_MS_MAX), () => {
      cancel = null;
      setFor = Number.POSITIVE_INFINITY;
      ring();
    });
  }

  function set(): void {
    const due = deadlines().next?.at;
    if (isClosed || isRinging || due === undefined || setFor <= due) return;
    wakeAt(due);
  }

  function ring(): void {
    if (isClosed || isRinging) return;
    isRinging = true;
    settle((outcome) => {
      isRinging = false;
      if (isClosed || outcome === 'down') return;
      const due = deadlines().next?.at;
      if (due === undefined || due > stamps.next()) set();
      else if (outcome === 'refused') wakeAt(stamps.next() + PAUSE_MS);
      else ring();
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
