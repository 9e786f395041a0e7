/**
 * Time that passes when it is told to, for tests of workflows that sleep for days. Turns are taken as they come;
 * only waiting is virtual.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../server/run/index.ts';

/**
 * A clock for `openFlow({ store: 'memory:', clock })`.
 *
 * @example
 * ```ts
 * const time = createVirtualTime();
 * const flow = await openFlow({ store: 'memory:', clock: time, workflows: [remind] });
 * const run = await flow.start(remind, { to: 'ada' });
 * await time.pass(7 * 86_400_000);
 * console.log(await run.result());
 * ```
 */
export interface VirtualTime extends Clock {
  /** Lets so much time pass, and everything on the way happen. */
  pass(ms: number): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** The disk is no part of virtual time: who waits for it goes on when it has answered, which is looked for so often. */
const DISK_LOOK_MS = 1;
const DISK_MS_MAX = 10_000;
/** Turns without anything new after which everything that can go on has done so. */
const QUIET_TURNS = 25;
/** What never rests is not waited for. */
const TURNS_MAX = 10_000;

/**
 * Makes a clock that stands still until `pass` is called.
 *
 * @example
 * ```ts
 * const time = createVirtualTime(Date.UTC(2030, 0, 1));
 * ```
 */
export function createVirtualTime(startMs = 1_700_000_000_000): VirtualTime {
  let now = startMs;
  const timers = new Set<Timer>();
  let quietTurns = 0;

  async function settle(): Promise<void> {
    quietTurns = 0;
    for (let turn = 0; turn < TURNS_MAX && quietTurns++ < QUIET_TURNS; turn++) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (quietTurns === QUIET_TURNS && (await waitForDisk())) quietTurns = 0;
    }
  }

  /** Whether there was anything to wait for. */
  async function waitForDisk(): Promise<boolean> {
    const until = performance.now() + DISK_MS_MAX;
    if (!isDiskBusy()) return false;
    while (isDiskBusy() && performance.now() < until) await sleep(DISK_LOOK_MS);
    return true;
  }

  function earliest(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }

  return {
    now: () => now,
    soon(run) {
      quietTurns = 0;
      setImmediate(run);
    },
    after(ms, run) {
      quietTurns = 0;
      const timer = { at: now + Math.max(0, ms), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async pass(ms) {
      const until = now + ms;
      await settle();
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.run();
        await settle();
      }
      now = until;
    },
  };
}

/** A file is being read, written or synced in another thread. */
function isDiskBusy(): boolean {
  return process.getActiveResourcesInfo().some((what) => what.startsWith('FSReq'));
}
