/**
 * The time that commands are stamped with. It never runs backwards [H9], and it does not stand still either: where the clock was
 * set back, or that of a server that sequenced before is ahead, it goes on at half the pace until the clock has caught up,
 * so that what is due then comes late by its own length at the most, and not by as much as the clock was off [H22].
 */
import type { Clock } from './clock.ts';

export interface Stamps {
  next(): number;
  /** How long it takes until a stamp is as late as this, unless the clock is set. */
  untilMs(at: number): number;
}

export function createStamps(clock: Pick<Clock, 'now'>, recordedAt: () => number): Stamps {
  let last = 0;
  let seen = clock.now();
  /** What passed and is not half of a millisecond yet. */
  let rest = 0;

  function next(): number {
    const now = clock.now();
    rest += Math.max(0, now - seen);
    seen = now;
    const behind = Math.max(last, recordedAt());
    if (now >= behind) {
      rest = 0;
      last = now;
    } else {
      const half = Math.floor(rest / 2);
      rest -= 2 * half;
      last = behind + half;
    }
    return last;
  }

  return {
    next,
    untilMs: (at) => Math.max(0, Math.min(2 * (at - next()), at - clock.now())),
  };
}
