/**
 * What a `StdioBus` is made from. The config is the bus's own, as it stands in a file, so that one can
 * be pasted from the other; a pool may have a JavaScript `function` in place of a `command`.
 */
import type { Backend, LogLevel } from './backend.ts';
import type { WorkerFunction } from './function-worker.ts';
import type { SessionMode } from './session-book.ts';
import type { BackendMode, Dialect, ListenMode } from './states.ts';

/** A pool of a config file, key by key; docs/guide/bus.md says what each does. */
export interface PoolOptions {
  readonly id: string;
  readonly command?: string;
  readonly args?: readonly string[];
  /** Runs in this process; only with the embedded backend. */
  readonly function?: WorkerFunction;
  readonly instances?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly env_allow?: readonly string[];
  readonly cwd?: string;
  readonly restart?: 'always' | 'on-failure' | 'never';
  readonly ready?: { readonly method: string; readonly timeout_sec?: number };
  readonly ping?: {
    readonly method: string;
    readonly interval_sec?: number;
    readonly timeout_sec?: number;
  };
  readonly hang_timeout_sec?: number;
  readonly max_in_flight?: number;
  readonly agents?: readonly string[];
  readonly methods?: readonly string[];
}

/** The limits of a config file. */
export interface LimitOptions {
  readonly max_input_buffer?: number | undefined;
  readonly max_output_queue?: number | undefined;
  readonly max_restarts?: number | undefined;
  readonly restart_window_sec?: number | undefined;
  readonly drain_timeout_sec?: number | undefined;
  readonly backpressure_timeout_sec?: number | undefined;
  readonly request_timeout_sec?: number | undefined;
  readonly session_idle_sec?: number | undefined;
  readonly max_sessions?: number | undefined;
  readonly max_pending?: number | undefined;
  readonly max_clients?: number | undefined;
  readonly max_missed?: number | undefined;
  readonly max_missed_bytes?: number | undefined;
  readonly max_stray_lines?: number | undefined;
  readonly restart_delay_ms?: number | undefined;
  readonly idempotency_sec?: number | undefined;
}

export interface PolicyRuleOptions {
  readonly effect: 'allow' | 'deny';
  readonly method?: string;
  readonly pool?: string;
  readonly subject?: string;
  readonly role?: string;
  readonly reason?: string;
}

export interface KnownClientOptions {
  readonly subjectId: string;
  readonly role?: string;
  readonly token_sha256: string;
}

/** A config file as an object. */
export interface BusConfigOptions {
  readonly pools?: readonly PoolOptions[];
  readonly limits?: LimitOptions;
  readonly transport?: {
    readonly mode?: 'stdio' | 'unix' | 'tcp';
    readonly framing?: 'ndjson' | 'length';
    readonly protocol?: 'json';
    readonly options?: Readonly<Record<string, unknown>>;
  };
  readonly policy?: readonly PolicyRuleOptions[];
  readonly clients?: readonly KnownClientOptions[];
}

export interface EmbeddedOptions {
  /** Lets other clients in beside this program. */
  readonly listenMode?: ListenMode;
  readonly tcpHost?: string;
  readonly tcpPort?: number;
  readonly unixPath?: string;
  /** Lets in over TCP, beside the clients of the config. */
  readonly token?: string;
}

export interface SubprocessOptions {
  /** Another bus program; it is given `--config` or `--config-fd`, and `--stdio`. */
  readonly binaryPath?: string;
  /** What the program is; `stdio_bus` when `binaryPath` is given. */
  readonly dialect?: Dialect;
  readonly startTimeoutSec?: number;
  readonly stderrBufferLines?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** For another bus program, whose workers inherit all it has: what to take over from here. */
  readonly envAllow?: readonly string[];
}

export interface ReconnectOptions {
  readonly attemptsMax?: number;
  readonly waitMsMin?: number;
  readonly waitMsMax?: number;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

export interface SocketOptions {
  readonly unixPath?: string;
  readonly tcpHost?: string;
  readonly tcpPort?: number;
  readonly token?: string;
  readonly dialect?: Dialect;
  readonly connectTimeoutSec?: number;
  /** With false a broken line is the end. */
  readonly reconnect?: ReconnectOptions | false;
}

export interface DockerOptions {
  readonly image?: string;
  readonly pullPolicy?: 'never' | 'if-missing' | 'always';
  readonly enginePath?: string;
  readonly startupTimeoutSec?: number;
  readonly containerNamePrefix?: string;
  readonly extraArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What runs in the image; `stdio_bus` for images whose name begins with `stdiobus/`. */
  readonly dialect?: Dialect;
}

export interface StdioBusOptions {
  readonly config?: BusConfigOptions;
  readonly configPath?: string;
  /** A name, or a backend of your own. */
  readonly backend?: BackendMode | Backend;
  /** What a request may take that does not say. */
  readonly timeoutMs?: number;
  readonly session?: SessionMode;
  /** JavaScript functions as workers: pool id to function. */
  readonly functions?: Readonly<Record<string, WorkerFunction>>;
  readonly embedded?: EmbeddedOptions;
  readonly subprocess?: SubprocessOptions;
  readonly socket?: SocketOptions;
  readonly docker?: DockerOptions;
  /** Log lines of the bus, and exceptions of handlers. Without it the latter become warnings. */
  readonly onLog?: (level: LogLevel, text: string) => void;
}
