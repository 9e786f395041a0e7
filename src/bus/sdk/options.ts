/**
 * What a `StdioBus` is made from. The config is the bus's own, as it stands in a file, so that one can
 * be pasted from the other; a pool may have a JavaScript `function` in place of a `command`.
 */
import type { Backend, LogLevel } from './backend.ts';
import type { WorkerFunction } from './function-worker.ts';
import type { SessionMode } from './session-book.ts';
import type { BackendMode, Dialect, ListenMode } from './states.ts';

export interface PoolOptions {
  readonly id: string;
  readonly command?: string;
  readonly args?: readonly string[];
  /** Runs in this process; only with the embedded backend. */
  readonly function?: WorkerFunction;
  readonly instances?: number;
  /** Any other key of a pool in a config file, such as `env`, `cwd`, `restart`, `methods`. */
  readonly [key: string]: unknown;
}

export interface BusConfigOptions {
  readonly pools?: readonly PoolOptions[];
  /** The limits of a config file: `max_input_buffer`, `drain_timeout_sec` and so on. */
  readonly limits?: Readonly<Record<string, number | undefined>>;
  /** Any other key of a config file, such as `transport`, `policy`, `clients`. */
  readonly [key: string]: unknown;
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
