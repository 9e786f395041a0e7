/** What a worker process is made from: everything decided, nothing to look up any more. */

export type RestartPolicy = 'always' | 'on-failure' | 'never';

/** A request the worker must answer, with a result or an error, before it counts as ready. */
export interface ReadyProbe {
  readonly method: string;
  readonly timeoutMs: number;
}

/** A request the worker must answer, with a result or an error, while it runs. */
export interface PingProbe {
  readonly method: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface RestartLimits {
  readonly policy: RestartPolicy;
  /** More restarts than this inside the window and the place is given up. 0: never restart. */
  readonly restartsMax: number;
  readonly windowMs: number;
  /** First wait; doubles up to the maximum, with jitter. */
  readonly waitMsMin: number;
  readonly waitMsMax: number;
  /** Ready for so long and the waits begin anew. */
  readonly healthyAfterMs: number;
}

export interface WorkerSpec {
  readonly pool: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Null stands for the directory of the bus. */
  readonly cwd: string | null;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly restart: RestartLimits;
  readonly ready: ReadyProbe | null;
  readonly ping: PingProbe | null;
  /** With an answer to give and not a byte for so long, it hangs: killed and started again. Null turns this off. */
  readonly hangMs: number | null;
  /** A longer line ends the worker. */
  readonly lineBytesMax: number;
  /** More lines on stdout that are no messages than this in one start, and it is restarted. */
  readonly straysMax: number;
  readonly stderrLinesKept: number;
}
