/** The history of a run as it is written: one line for each act, in the order in which they ended. */
import type { Act, Done, Happening, Outcome } from './history.ts';

export interface Recorder {
  readonly done: readonly Done[];
  readonly faults: readonly Happening[];
  /** Seconds since the run began. */
  now(): number;
  happened(what: string): void;
  record(by: string, at: string, act: Act, outcome: Outcome, from: number, copy?: string): void;
}

export function createRecorder(onFault: (line: string) => void): Recorder {
  const done: Done[] = [];
  const faults: Happening[] = [];
  const start = performance.now();
  const now = (): number => (performance.now() - start) / 1000;
  return {
    done,
    faults,
    now,
    happened(what) {
      faults.push({ at: now(), what });
      onFault(`${now().toFixed(1).padStart(6)} s  ${what}`);
    },
    record(by, at, act, outcome, from, copy) {
      const to = outcome === 'unknown' ? null : now();
      done.push({ id: done.length, by, at, act, outcome, from, to, ...(copy && { copy }) });
    },
  };
}

/** The longest time between two acknowledged acts. */
export function longestSilence(done: readonly Done[], end: number): number {
  const ends = done
    .flatMap(({ outcome, to }) => (outcome === 'ok' && to !== null ? [to] : []))
    .sort((a, b) => a - b);
  let longest = 0;
  let last = ends[0] ?? 0;
  for (const at of ends) {
    if (at > end) break;
    longest = Math.max(longest, at - last);
    last = at;
  }
  return longest;
}
