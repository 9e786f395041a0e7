/**
 * Opens a worker that is a child process: its place in the pool stays while processes come and go.
 * It keeps the promises of `worker.ts` over all of them: every start ends in one `ready` or `down`,
 * every `ready` in one `down` [WO3], and when it is down it says whether and when it starts again.
 *
 * A program that could never be started at all is not tried again: a typo does not heal [RS5].
 */

import { timerMs } from './deadline.ts';
import { prepareGroups } from './live-groups.ts';
import { NO_RESTARTS, planRestart, type RestartHistory } from './restart.ts';
import { type SpawnFailure, spawnChild } from './spawn-child.ts';
import type { WorkerSpec } from './spec.ts';
import type { Worker, WorkerEvents, WorkerNote, WorkerState } from './worker.ts';
import { beginRun, type RunEnd, type WorkerRun } from './worker-run.ts';

interface Stop {
  readonly done: Promise<void>;
  readonly resolve: () => void;
}

interface Ended extends RunEnd {
  /** It could not be spawned, and would not be the next time. */
  readonly isLasting: boolean;
}

export function openWorker(spec: WorkerSpec, index: number, events: WorkerEvents): Worker {
  let state: WorkerState = 'idle';
  let run: WorkerRun | null = null;
  let starts = 0;
  let isReading = true;
  let history: RestartHistory = NO_RESTARTS;
  let restartTimer: NodeJS.Timeout | undefined;
  let stopping: Stop | null = null;

  const note = (level: WorkerNote['level'], what: WorkerNote['what'], text: string): void =>
    events.onNote(worker, { level, what, text });

  function begin(): void {
    clearTimeout(restartTimer);
    state = 'starting';
    const groups = prepareGroups();
    const spawned = spawnChild(spec, groups.mark, onFailed);
    if (spawned === null) return;
    run = beginRun(spec, spawned, starts + 1, isReading, {
      onSpawned() {
        starts += 1;
        const unguarded = groups.isGuarded
          ? ''
          : '; no reaper runs, so it may outlive a killed bus';
        note('info', 'started', `started as process ${spawned.pid}${unguarded}`);
      },
      onReady() {
        state = 'ready';
        events.onReady(worker);
      },
      onLines: (lines) => events.onLines(worker, lines),
      onEnding() {
        state = 'stopping';
      },
      onNote: (one) => events.onNote(worker, one),
      onOver: (over) => onEnded({ ...over, isLasting: false }),
    });
  }

  function onFailed(failure: SpawnFailure): void {
    onEnded({
      ...failure,
      exitCode: null,
      signal: null,
      handedOver: 0,
      unsent: [],
      stderrTail: [],
      isClean: false,
      readyForMs: null,
    });
  }

  function onEnded(ended: Ended): void {
    run = null;
    const restartInMs = stopping === null ? decideRestart(ended) : null;
    if (stopping !== null) {
      state = 'stopped';
      note('info', 'stopped', ended.reason);
    }
    const { isClean: _, readyForMs: __, isLasting: ___, ...down } = ended;
    const stop = stopping;
    stopping = null;
    events.onDown(worker, { ...down, restartInMs });
    stop?.resolve();
  }

  /** Sets state and timer before a listener is called, because it may stop or start us. */
  function decideRestart(ended: Ended): number | null {
    const { reason, isClean, readyForMs } = ended;
    if (ended.isLasting && starts === 0) {
      state = 'failed';
      note('error', 'failed', reason);
      return null;
    }
    const end = { at: performance.now(), isClean, readyForMs };
    const plan = planRestart(spec.restart, history, end, Math.random);
    history = plan.history;
    if (plan.waitMs === null) {
      state = 'failed';
      const what = isClean ? 'stopped' : 'failed';
      note(isClean ? 'info' : 'error', what, `${reason}; not started again: ${plan.because}`);
      return null;
    }
    state = 'waiting';
    restartTimer = setTimeout(begin, timerMs(plan.waitMs));
    note('warn', 'restarting', `${reason}; starts again in ${plan.waitMs} ms`);
    return plan.waitMs;
  }

  const worker: Worker = {
    name: `${spec.pool}/${index}`,
    pool: spec.pool,
    get state() {
      return state;
    },
    get pid() {
      return run?.pid ?? null;
    },
    get starts() {
      return starts;
    },
    get queuedBytes() {
      return run?.queuedBytes ?? 0;
    },
    start() {
      if (stopping !== null) {
        throw new Error(`${worker.name} is being stopped: start it when stop() has ended`);
      }
      // Its outcome, or its next start, is on its way.
      if (state === 'starting' || state === 'ready' || state === 'stopping') return;
      if (state !== 'waiting') history = NO_RESTARTS;
      begin();
    },
    send(line, isAwaited) {
      if (state !== 'ready' || run === null) {
        throw new Error(`${worker.name} is ${state}: messages are sent only while it is ready`);
      }
      return run.send(line, isAwaited);
    },
    setReading(isOn) {
      isReading = isOn;
      run?.setReading(isOn);
    },
    stray: (line) => run?.stray(line),
    alive: (isAwaited) => run?.alive(isAwaited),
    stop(graceMs) {
      clearTimeout(restartTimer);
      if (state !== 'starting' && state !== 'ready' && state !== 'stopping') {
        state = 'stopped';
        return Promise.resolve();
      }
      if (stopping === null) {
        const { promise, resolve } = Promise.withResolvers<void>();
        stopping = { done: promise, resolve };
      }
      const { done } = stopping;
      state = 'stopping';
      run?.stop(graceMs);
      return done;
    },
  };
  return worker;
}
