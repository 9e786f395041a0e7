/** The real clock. `soon` is setImmediate: after everything the last poll of the sockets brought. */
import type { Clock } from '../../hub/clock.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  soon: (run) => {
    setImmediate(run);
  },
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
};
