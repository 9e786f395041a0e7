/**
 * A worker under observation: everything it tells is written down, and a test waits until what was
 * written down satisfies it. None outlives its test.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach } from 'vitest';
import type { ByteLine } from '../../../src/bus/process/byte-line.ts';
import { openWorker } from '../../../src/bus/process/open-worker.ts';
import type { WorkerSpec } from '../../../src/bus/process/spec.ts';
import type { Down, Worker, WorkerNote } from '../../../src/bus/process/worker.ts';
import { DEADLINE_MS, within } from '../../e2e/deadline.ts';

export interface Recorder {
  readonly worker: Worker;
  /** `ready` and `down`, in order. */
  readonly outcomes: string[];
  readonly lines: ByteLine[];
  readonly downs: Down[];
  readonly notes: WorkerNote[];
  /** Called with every batch, before it is written down. */
  onBatch: (lines: readonly ByteLine[]) => void;
  when<T>(what: string, look: () => T | undefined | false): Promise<T>;
}

const opened = new Set<Worker>();
afterEach(async () => {
  await Promise.all([...opened].map((worker) => worker.stop(0)));
  opened.clear();
});

export function record(spec: WorkerSpec): Recorder {
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const look of waiting) look();
  };
  const recorder: Recorder = {
    worker: openWorker(spec, 0, {
      onReady() {
        recorder.outcomes.push('ready');
        changed();
      },
      onDown(_, down) {
        recorder.outcomes.push('down');
        recorder.downs.push(down);
        changed();
      },
      onLines(_, lines) {
        recorder.onBatch(lines);
        for (const line of lines) recorder.lines.push(line);
        changed();
      },
      onNote(_, note) {
        recorder.notes.push(note);
        changed();
      },
    }),
    outcomes: [],
    lines: [],
    downs: [],
    notes: [],
    onBatch: () => {},
    when(what, look) {
      const { promise, resolve } =
        Promise.withResolvers<Exclude<ReturnType<typeof look>, false | undefined>>();
      const again = (): void => {
        const found = look();
        if (found === undefined || found === false) return;
        waiting.delete(again);
        resolve(found as never);
      };
      waiting.add(again);
      again();
      return within(what, promise) as never;
    },
  };
  opened.add(recorder.worker);
  return recorder;
}

export async function startReady(spec: WorkerSpec): Promise<Recorder> {
  const recorder = record(spec);
  recorder.worker.start();
  await recorder.when('the worker is ready', () => recorder.outcomes.includes('ready'));
  return recorder;
}

export function firstDown(recorder: Recorder): Promise<Down> {
  return recorder.when('the worker is down', () => recorder.downs[0]);
}

/** A zombie runs no more, whether somebody reaps it or not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** An end that nobody tells us of has to be looked for. */
export async function lookUntil(
  what: string,
  isSo: () => boolean,
  afterMs: number = DEADLINE_MS,
): Promise<void> {
  const stopAt = performance.now() + afterMs;
  while (!isSo()) {
    if (performance.now() > stopAt) throw new Error(`not within ${afterMs} ms: ${what}`);
    await pause(5);
  }
}
