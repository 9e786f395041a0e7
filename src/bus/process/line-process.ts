/**
 * A program that prints lines, from its start to the moment when nothing of it is left: its own group, a
 * mark in its environment, bounded output, and one promise that settles when the process was
 * reaped, its group is empty and no daemon of it is found [RU4]. Whatever it prints, memory holds one
 * line and the last lines of stderr [RU5].
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type ByteLine, textOf } from './byte-line.ts';
import { createGroupEnding } from './end-group.ts';
import { createLineSplitter } from './frames.ts';
import { addGroup, prepareGroups, removeGroup } from './live-groups.ts';
import { killMarked } from './marked.ts';
import { type Spawned, spawnChild } from './spawn-child.ts';
import { createStderrRing } from './stderr-ring.ts';

export const LINE_BYTES_MAX: number = 1024 * 1024;
export const STDERR_LINES_KEPT = 50;
/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;
/** Process, group and daemons are gone: who else holds the pipes may do so for this long. */
const PIPES_MS = 2_000;

export interface LineProcessOptions {
  /** What it is called when it could not be started: "the runner". */
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the process when it is aborted. */
  readonly signal: AbortSignal;
  /** Told its number, when it was started, and the mark that it and its children carry. */
  started?(pid: number, mark: string): void;
  /** Every line of stdout up to the bound, decoded, in order. */
  onLine(line: string): void;
  /** A line of stderr, fit to be shown; not more of them than a person could read. */
  onErrorLine(text: string): void;
  onNote(text: string): void;
  /** Where the living are written down, for who comes after a crash. */
  readonly record?: GroupRecord | null;
  readonly graceMs?: number;
  /** More than this, or more lines, and it is ended; left out, it may print for ever. */
  readonly outputBytesMax?: number;
  readonly outputLinesMax?: number;
  /** A longer line is left out. */
  readonly lineBytesMax?: number;
}

export interface GroupRecord {
  add(pid: number, mark: string): void;
  remove(pid: number): void;
}

export interface LineProcess {
  /** Null when it could not be started. */
  readonly pid: number | null;
  write(text: string): void;
  endInput(): void;
  /** Ends it. The first reason given is the one that is told; `withinMs` can only shorten the grace. */
  stop(reason: string, withinMs?: number): void;
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  /** A sentence when it was not started, was ended by us, died, or exited with another code than 0. */
  readonly problem: string | null;
  /** Ended by us: because it was stopped, aborted or printed too much. */
  readonly isStopped: boolean;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly stderr: readonly string[];
}

export function startLineProcess(options: LineProcessOptions): LineProcess {
  const { argv, signal } = options;
  const [command = '', ...args] = argv;
  const mark = `${prepareGroups().mark}.${randomUUID()}`;
  const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
  const failed = (problem: string): void =>
    resolve({ problem, isStopped: false, exitCode: null, exitSignal: null, stderr: [] });
  if (signal.aborted) {
    failed(stopReason(signal));
    return absent(promise);
  }
  const spec = { command, args, cwd: options.cwd, env: { ...options.env } };
  const spawned = spawnChild(spec, mark, ({ reason }) => failed(`${options.name} ${reason}`));
  return spawned === null ? absent(promise) : watch(spawned, mark, options, promise, resolve);
}

function absent(ended: Promise<ProcessEnd>): LineProcess {
  return { pid: null, write() {}, endInput() {}, stop() {}, ended };
}

function watch(
  { child, pid }: Spawned,
  mark: string,
  options: LineProcessOptions,
  ended: Promise<ProcessEnd>,
  resolve: (end: ProcessEnd) => void,
): LineProcess {
  const { signal, record } = options;
  const graceMs = options.graceMs ?? GRACE_MS;
  const { outputBytesMax = Number.POSITIVE_INFINITY, outputLinesMax = Number.POSITIVE_INFINITY } =
    options;
  const { lineBytesMax = LINE_BYTES_MAX } = options;
  addGroup(pid);
  record?.add(pid, mark);
  options.started?.(pid, mark);
  let verdict: string | null = null;
  let exit: { readonly code: number | null; readonly signal: string | null } | null = null;
  let bytes = 0;
  let printed = 0;

  const ring = createStderrRing(STDERR_LINES_KEPT, options.onErrorLine);
  const splitter = createLineSplitter(lineBytesMax, {
    onLines(lines) {
      printed += lines.length;
      if (printed > outputLinesMax) return stop(`it printed more than ${outputLinesMax} lines`);
      for (const line of lines) options.onLine(textOf(line as ByteLine));
    },
    onTooLarge: () => options.onNote(`(a line over ${lineBytesMax} bytes was left out)`),
  });
  const pipes = whenClosed(child);
  const ending = createGroupEnding(
    pid,
    () => child.stdin.end(),
    (isEmpty) => void clear(isEmpty),
  );

  function stop(reason: string, withinMs: number = graceMs): void {
    if (exit !== null) return;
    verdict ??= reason;
    ending.begin(Math.min(graceMs, withinMs));
  }

  function count(chunk: Buffer): boolean {
    bytes += chunk.length;
    if (bytes <= outputBytesMax) return true;
    stop(`it printed more than ${outputBytesMax} bytes`);
    return false;
  }

  /** The group is done with; what left it is looked for, and then the pipes have nobody to write to them. */
  async function clear(isEmpty: boolean): Promise<void> {
    const isNoneLeft = await killMarked(mark);
    if (isEmpty && isNoneLeft) {
      removeGroup(pid);
      record?.remove(pid);
    }
    await pipes.closed(PIPES_MS);
    splitter.end();
    ring.end();
    signal.removeEventListener('abort', onAbort);
    resolve({
      problem: describe(),
      isStopped: verdict !== null,
      exitCode: exit?.code ?? null,
      exitSignal: exit?.signal ?? null,
      stderr: ring.tail(),
    });
  }

  function describe(): string | null {
    if (verdict !== null) {
      return ending.hasKilled ? `${verdict}; it did not end by itself and was killed` : verdict;
    }
    if (exit?.signal != null) return `it was killed by ${exit.signal}`;
    return exit?.code === 0 ? null : `it exited with code ${exit?.code}`;
  }

  const onAbort = (): void => stop(stopReason(signal));
  signal.addEventListener('abort', onAbort);
  child.once('exit', (code, exitSignal) => {
    exit = { code, signal: exitSignal };
    ending.leaderGone();
  });
  child.on('error', () => {});
  // A program need not read what it is given.
  child.stdin.on('error', () => {});
  child.stdout.on('data', (chunk: Buffer) => {
    if (count(chunk)) splitter.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (count(chunk)) ring.push(chunk);
  });

  return {
    pid,
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    endInput: () => void child.stdin.end(),
    stop,
    ended,
  };
}

function whenClosed(child: ChildProcessWithoutNullStreams): {
  closed(waitMs: number): Promise<void>;
} {
  const streams = [child.stdout, child.stderr];
  const all = Promise.all(
    streams.map((stream) => {
      stream.on('error', () => {});
      return new Promise<void>((resolve) => stream.once('close', resolve));
    }),
  );
  return {
    async closed(waitMs) {
      const timer = setTimeout(() => {
        for (const stream of streams) stream.destroy();
      }, waitMs);
      await all;
      clearTimeout(timer);
    },
  };
}

/** Why a signal was aborted, as a sentence. */
export function stopReason({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : 'it was stopped';
}
