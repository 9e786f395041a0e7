/**
 * What Linux says of a running process: its memory and the processor time it took. On a loaded
 * machine the second tells what an operation costs where the clock on the wall does not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** Resident, in megabytes, now and at its highest. */
export function memoryOf(pid: number): { readonly residentMb: number; readonly peakMb: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN) / 1024;
  return { residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

/** Microseconds that all its threads have run. */
export function busyUsOf(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const line = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
      nanoseconds += Number(line.split(' ')[0]);
    } catch {
      // The thread has ended since it was listed.
    }
  }
  return nanoseconds / 1000;
}

/** Microseconds that it ran, threads that have ended included, to a hundredth of a second. */
export function ranUsOf(pid: number): number {
  const [userAt, systemAt] = [11, 12];
  const fields = fieldsOf(`/proc/${pid}/stat`);
  return (Number(fields[userAt]) + Number(fields[systemAt])) * 10_000;
}

/** Of a second, all of them together. */
const REST_US = 250_000;
const REST_SECONDS = 2;
const REST_TIMEOUT_MS = 120_000;

/** Resolves when these processes have done what they do by themselves after much; says so when they do not. */
export async function atRest(pids: readonly number[]): Promise<void> {
  const ranUs = () => pids.reduce((sum, pid) => sum + ranUsOf(pid), 0);
  const stopAt = performance.now() + REST_TIMEOUT_MS;
  let seconds = 0;
  for (let before = ranUs(); performance.now() < stopAt; ) {
    await wait(1_000);
    const now = ranUs();
    seconds = now - before < REST_US ? seconds + 1 : 0;
    if (seconds === REST_SECONDS) return;
    before = now;
  }
  process.stderr.write(`the servers were still busy after ${REST_TIMEOUT_MS / 1_000} s\n`);
}

/** As `busyUsOf`, of its main thread alone: what bounds it when it is busy. */
export function mainUsOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  return Number(line.split(' ')[0]) / 1000;
}

export interface Cost {
  /** Microseconds of all its threads, and of its main thread, for one. */
  readonly busyUs: number;
  readonly mainUs: number;
}

/** What a server has run since, for each of so many. */
export function createMeter(pid: number): { costOf(count: number): Cost } {
  const from = { busy: busyUsOf(pid), main: mainUsOf(pid) };
  return {
    costOf: (count) => ({
      busyUs: (busyUsOf(pid) - from.busy) / count,
      mainUs: (mainUsOf(pid) - from.main) / count,
    }),
  };
}

/** Milliseconds that the children this process has waited for ran, to a hundredth of a second. */
export function childrenBusyMs(): number {
  const fields = fieldsOf('/proc/self/stat');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** Behind the name, which may hold anything. */
function fieldsOf(stat: string): string[] {
  return readFileSync(stat, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
}
