/**
 * A worker: one place in a pool, as the bus sees it. Behind it is a child process (`open-worker.ts`) or a
 * JavaScript function; the name stays when the process is replaced.
 *
 * Promises:
 *   [WO1] `send` never blocks and never loses: what the process has not taken is counted in
 *         `queuedBytes`, and what it never saw is told when it goes down;
 *   [WO2] `onLines` brings whole lines, in order, and none while reading is off;
 *   [WO3] every start ends in exactly one `ready` or `down`, every `ready` in exactly one `down`.
 */
import type { ByteLine } from './byte-line.ts';

/**
 * - `idle`: not started; - `starting`: spawned, not yet ready; - `ready`: takes messages;
 * - `waiting`: down, will be started again; - `failed`: down, and not started again before
 *   a reload; - `stopping`; - `stopped`: by us.
 */
export type WorkerState =
  | 'idle'
  | 'starting'
  | 'ready'
  | 'waiting'
  | 'failed'
  | 'stopping'
  | 'stopped';

/** Why a worker is down, and what it had not seen. */
export interface Down {
  /** One sentence: "exited with code 3", "was killed by SIGSEGV", "did not answer a ping for 5 s". */
  readonly reason: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Messages numbered above this were never given to the process: they cannot have run. */
  readonly handedOver: number;
  /** Those messages, in order: the bus may give them to another worker. */
  readonly unsent: readonly ByteLine[];
  /** When it will be started again, or null for never. */
  readonly restartInMs: number | null;
  /** The last lines it wrote to stderr, for the error the waiting clients get. */
  readonly stderrTail: readonly string[];
}

export interface WorkerEvents {
  onReady(worker: Worker): void;
  onDown(worker: Worker, down: Down): void;
  /** Whole lines the worker wrote, without their newline. They are not checked in any way. */
  onLines(worker: Worker, lines: readonly ByteLine[]): void;
  /** For the log: lifecycle, stray output, stderr. Never a message's content. */
  onNote(worker: Worker, note: WorkerNote): void;
}

export interface WorkerNote {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly what: 'started' | 'stopped' | 'restarting' | 'failed' | 'stray' | 'stderr' | 'hang';
  readonly text: string;
}

export interface Worker {
  /** `pool/0`: stable over restarts. */
  readonly name: string;
  readonly pool: string;
  readonly state: WorkerState;
  /** The process id, or null when there is no process. */
  readonly pid: number | null;
  /** Counts successful spawns since the beginning. */
  readonly starts: number;
  /** Bytes that `send` took and the process has not. */
  readonly queuedBytes: number;
  /** Begins; the outcome comes by `onReady` or `onDown`. */
  start(): void;
  /**
   * Gives it a message; only while `ready`. Answers the number of the message in this start: 1, 2, 3.
   * `isAwaited`: from now on it is watched for an answer, if it is not yet.
   */
  send(line: ByteLine, isAwaited?: boolean): number;
  /** Stops and starts the flow of its output. */
  setReading(isOn: boolean): void;
  /** A line was not a message: the worker counts it and is restarted when it writes too many. */
  stray(line: ByteLine): void;
  /** The bus heard something sensible from it. `isAwaited`: and there is still an answer to wait for. */
  alive(isAwaited: boolean): void;
  /** Takes nothing more; closes stdin; SIGTERM; after the grace SIGKILL; ends when it is gone. */
  stop(graceMs: number): Promise<void>;
}
