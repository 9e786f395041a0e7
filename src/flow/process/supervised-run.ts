/**
 * One run of a supervised program: begun within its limits, ready or not, measured, and ended with nothing
 * left behind. It knows nothing of restarts or of the hub; each run is a value of its own, so what a late
 * exit says can only be said of the run that it was [SU3].
 */
import {
  type ChildLimits,
  isPuttingLimits,
  limitedCommand,
} from '../../bus/process/child-limits.ts';
import { timerMs } from '../../bus/process/deadline.ts';
import { workerEnvironment } from '../../bus/process/environment.ts';
import { findProgram } from '../../bus/process/find-program.ts';
import { startLineProcess } from '../../bus/process/line-process.ts';
import { commandLineOf, type Measured, measure } from '../../bus/process/measure.ts';
import { createLastLines } from './last-lines.ts';
import { type ProgramPlan, planProgram } from './plan-program.ts';
import type { SupervisorOptions } from './supervisor-options.ts';

export interface SupervisedRun {
  readonly pid: number | null;
  readonly lines: () => readonly string[];
  /** As it was measured last. */
  readonly usage: () => Measured | null;
  /** True when it ran and was ready; false when it ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<RunEnd>;
  stop(reason: string, withinMs?: number): void;
}

export interface RunEnd {
  /** A sentence. */
  readonly reason: string;
  /** It was ready and exited with 0 by itself. */
  readonly isClean: boolean;
  readonly readyForMs: number | null;
  readonly lines: readonly string[];
}

const READY_MS = 30_000;
export const GRACE_MS = 5_000;
const LOOK_MS = 250;
const EXEC_LOOK_MS = 2;

type RunOptions = Pick<SupervisorOptions, 'ready' | 'readyTimeoutMs' | 'onLine' | 'graceMs'>;
type PlanOptions = Pick<SupervisorOptions, 'command' | 'cwd' | 'env' | 'inheritEnv' | 'guard'>;

/** How it is to be started; throws, as a sentence, that there is no such program or that its guard refuses it. */
export async function planRun(options: PlanOptions): Promise<ProgramPlan> {
  const { guard, command, cwd, env = {}, inheritEnv = [] } = options;
  const [program = ''] = command;
  const given = workerEnvironment(process.env, inheritEnv, { ...env });
  if ((await findProgram(program, cwd ?? process.cwd(), given.PATH ?? '')) === null) {
    const name = JSON.stringify(program);
    throw new Error(`there is no program ${name} to run; install it, or give its full path`);
  }
  return planProgram(guard, command, cwd, given, Object.keys(env));
}

export function beginSupervisedRun(
  options: RunOptions,
  plan: ProgramPlan,
  limits: ChildLimits,
): SupervisedRun {
  const { graceMs = GRACE_MS, readyTimeoutMs = READY_MS } = options;
  const last = createLastLines();
  const { promise: ready, resolve } = Promise.withResolvers<boolean>();
  let mark = '';
  let readyAt: number | null = null;
  let usage: Measured | null = null;
  const timers: NodeJS.Timeout[] = [];

  function becomeReady(): void {
    if (readyAt !== null) return;
    readyAt = performance.now();
    clearTimeout(late);
    resolve(true);
  }

  function hear(line: string, from: 'out' | 'err'): void {
    last.push(line);
    attempt(() => options.onLine?.(line, from));
    if (options.ready !== undefined && readyAt === null && says(options.ready, line)) becomeReady();
  }

  const program = startLineProcess({
    name: 'the program',
    argv: limitedCommand(plan.command, limits),
    ...{ cwd: plan.cwd, env: plan.env },
    signal: new AbortController().signal,
    graceMs,
    started(_pid, ours) {
      mark = ours;
    },
    onLine: (line) => hear(line, 'out'),
    onErrorLine: (line) => hear(line, 'err'),
    onNote: (text) => last.push(text),
  });
  const { pid } = program;

  const late = setTimeout(
    () => program.stop(`it was not ready within ${readyTimeoutMs / 1_000} s`),
    timerMs(readyTimeoutMs),
  );
  timers.push(late);
  if (pid !== null) {
    timers.push(setInterval(look, LOOK_MS));
    if (limits.wall !== undefined) {
      const said = `it ran for ${limits.wall} s, which is its limit wall`;
      timers.push(setTimeout(() => program.stop(said), timerMs(limits.wall * 1_000)));
    }
    if (options.ready === undefined) awaitProgram();
  }
  for (const timer of timers) timer.unref();

  /** The shell that puts limits on is not the program yet. */
  function awaitProgram(): void {
    const line = commandLineOf(pid as number);
    // Gone already: its end says why. Only Linux shows what a process runs.
    if (!line && process.platform === 'linux') return;
    if (line === null || !isPuttingLimits(line)) return becomeReady();
    timers.push(setTimeout(awaitProgram, EXEC_LOOK_MS));
  }

  function look(): void {
    usage = measure(pid as number, mark) ?? usage;
    const { memory_mb: memory, cpu } = limits;
    if (usage === null) return;
    if (memory !== undefined && usage.memoryMb > memory) {
      program.stop(`it used ${usage.memoryMb} MB, and its limit memory_mb is ${memory}`);
    } else if (cpu !== undefined && usage.cpuSeconds > cpu) {
      program.stop(`it used ${usage.cpuSeconds} s of processor time, and its limit cpu is ${cpu}`);
    }
  }

  const ended = program.ended.then((end): RunEnd => {
    void plan.close().catch(() => {});
    for (const timer of timers) clearTimeout(timer);
    resolve(false);
    const isSpent = end.exitSignal === 'SIGXCPU';
    const reason = isSpent
      ? `it used up its ${limits.cpu} s of processor time, which is its limit cpu`
      : (end.problem ?? 'it exited with code 0');
    const readyForMs = readyAt === null ? null : performance.now() - readyAt;
    const isClean = !end.isStopped && end.exitCode === 0 && readyAt !== null;
    const when = readyAt === null && !end.isStopped && pid !== null ? ' before it was ready' : '';
    return { reason: `${reason}${when}`, isClean, readyForMs, lines: last.all() };
  });

  return {
    ...{ pid, ready, ended },
    lines: () => last.all(),
    usage: () => usage,
    stop: (reason, withinMs) => program.stop(reason, withinMs),
  };
}

function says(ready: NonNullable<RunOptions['ready']>, line: string): boolean {
  if (typeof ready !== 'function') return new RegExp(ready.source, ready.flags).test(line);
  return attempt(() => ready(line)) === true;
}

/** A caller's function may throw: that is its own affair. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
