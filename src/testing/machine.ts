/**
 * A machine of a simulation: what a process has of time. It may be paused, while steady time goes on everywhere else
 * and what it was about to do is done late; its time of day may differ from that of others; and when it is
 * killed nothing that it has scheduled happens.
 */
import type { Clock } from '../hub/clock.ts';
import type { Steady } from '../log/lease-words.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface Machine {
  readonly clock: Clock;
  readonly steady: Steady;
  readonly isPaused: boolean;
  readonly isAlive: boolean;
  pause(): void;
  resume(): void;
  kill(): void;
}

/** `skewMs` is asked each time: how far its time of day is from that of the world. */
export function createMachine(world: VirtualClock, skewMs: () => number = () => 0): Machine {
  const fork = world.fork();
  let isPaused = false;
  let isAlive = true;
  let late: (() => void)[] = [];

  /** Runs it now, or when the machine goes on. */
  const when = (run: () => void) => (): void => {
    if (isPaused) late.push(run);
    else run();
  };
  const after: Clock['after'] = (ms, run) => {
    let isSet = true;
    const cancel = fork.clock.after(
      ms,
      when(() => isSet && run()),
    );
    return () => {
      isSet = false;
      cancel();
    };
  };

  return {
    clock: {
      now: () => fork.clock.now() + skewMs(),
      soon: (run) => fork.clock.soon(when(run)),
      after,
    },
    steady: { now: world.elapsedMs, after },
    get isPaused() {
      return isPaused;
    },
    get isAlive() {
      return isAlive;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      const runs = late;
      late = [];
      for (const run of runs) fork.clock.soon(when(run));
    },
    kill() {
      isAlive = false;
      fork.kill();
    },
  };
}
