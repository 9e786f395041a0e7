/**
 * Time that passes when it is told to, and turns that are taken in an order drawn
 * by chance. Timers run on a steady time of their own; the time of day may jump in
 * both directions, as real ones do.
 */
import type { Clock } from '../hub/clock.ts';
import type { Chance } from './chance.ts';

export interface VirtualClock extends Clock {
  /** A clock for one process: what it has scheduled is gone when it is killed. */
  fork(): { readonly clock: Clock; kill(): void };
  /** Runs one task that is due, drawn by chance among those that may run now; false when there is none. */
  step(): Promise<boolean>;
  /** Runs what is due until nothing is. */
  settle(): Promise<void>;
  /** Lets time pass, and everything on the way happen. */
  pass(ms: number): Promise<void>;
  /** How long it has run, whatever the time of day did meanwhile. */
  elapsedMs(): number;
  /** Moves the time of day alone. */
  jump(ms: number): void;
}

interface Task {
  readonly at: number;
  readonly isAlive: () => boolean;
  readonly run: () => void;
}

const TIMER_MS_MAX = 2 ** 31 - 1;
/** More than this many tasks without time passing: somebody spins. */
const TASKS_MAX = 200_000;

/**
 * `flush` resolves when every promise that can go on without the clock has done so;
 * only the platform can tell.
 */
export function createVirtualClock(
  chance: Chance,
  flush: () => Promise<void>,
  epoch = 1_700_000_000_000,
): VirtualClock {
  let steady = 0;
  let ofDay = epoch;
  let tasks: Task[] = [];

  const clockFor = (isAlive: () => boolean): Clock => ({
    now: () => Math.floor(ofDay),
    soon: (run) => void tasks.push({ at: steady, isAlive, run }),
    after(ms, run) {
      if (ms > TIMER_MS_MAX)
        throw new Error(`a real timer would not wait ${ms} ms but fire at once`);
      let isSet = true;
      tasks.push({ at: steady + Math.max(0, ms), isAlive: () => isSet && isAlive(), run });
      return () => {
        isSet = false;
      };
    },
  });

  async function step(): Promise<boolean> {
    tasks = tasks.filter(({ isAlive }) => isAlive());
    const due = tasks.filter(({ at }) => at <= steady);
    if (due.length === 0) return false;
    const task = chance.pick(due);
    tasks.splice(tasks.indexOf(task), 1);
    task.run();
    await flush();
    return true;
  }

  async function settle(): Promise<void> {
    await flush();
    for (let count = 0; await step(); count++) {
      if (count > TASKS_MAX) throw new Error('tasks go on and on without time passing');
    }
  }

  return {
    ...clockFor(() => true),
    fork() {
      let isAlive = true;
      const clock = clockFor(() => isAlive);
      return {
        clock,
        kill: () => {
          isAlive = false;
        },
      };
    },
    step,
    settle,
    elapsedMs: () => steady,
    async pass(ms) {
      const until = steady + ms;
      for (;;) {
        await settle();
        const next = Math.min(
          ...tasks.filter(({ isAlive }) => isAlive()).map(({ at }) => at),
          until,
        );
        ofDay += next - steady;
        steady = next;
        if (next >= until) break;
      }
      await settle();
    },
    jump(ms) {
      ofDay += ms;
    },
  };
}
