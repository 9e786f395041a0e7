/**
 * The bus as a child process, spoken to over its stdin and stdout. The config goes over descriptor 3,
 * so that it is neither in a file nor in the list of processes. It is ready when it answers, not
 * after a wait; it is stopped by the end of its input, then by signals.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ByteLine } from '../process/byte-line.ts';
import { workerEnvironment } from '../process/environment.ts';
import { createStderrRing, type StderrRing } from '../process/stderr-ring.ts';
import type { Backend, BackendEvents } from './backend.ts';
import type { BusDocument } from './bus-document.ts';
import { TransportError, UnavailableError } from './errors.ts';
import { type LineStream, openLineStream } from './line-stream.ts';
import type { SubprocessOptions } from './options.ts';
import { endWithUs, exitOf, isRunning } from './own-children.ts';
import { createProbe, within } from './probe.ts';
import type { Dialect } from './states.ts';

const START_TIMEOUT_SEC = 5;
const STDERR_LINES = 200;
const STDERR_LINES_SHOWN = 8;
/** Between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 5_000;
const CONFIG_FD = 3;
const OWN_BUS = fileURLToPath(new URL('../../../bin/synod.js', import.meta.url));

export class SubprocessBackend implements Backend {
  readonly type = 'subprocess';
  readonly listenMode = 'none';
  readonly dialect: Dialect;
  readonly messageBytesMax: number | null;
  private readonly config: BusDocument | { readonly path: string };
  private readonly options: SubprocessOptions;
  private readonly stderr: StderrRing;
  private child: ChildProcess | null = null;
  private stream: LineStream | null = null;
  private events: BackendEvents | null = null;
  private isStopping = false;
  /** Its output has ended; what it said last is still being read. */
  isEnding = false;

  constructor(config: BusDocument | { readonly path: string }, options: SubprocessOptions) {
    this.config = config;
    this.options = options;
    this.dialect = options.dialect ?? (options.binaryPath === undefined ? 'synod' : 'stdio_bus');
    this.messageBytesMax = 'path' in config ? null : config.parsed.limits.messageBytesMax;
    this.stderr = createStderrRing(options.stderrBufferLines ?? STDERR_LINES, (text) =>
      this.events?.onLog('info', text),
    );
  }

  get queuedBytes(): number {
    return this.stream?.queuedBytes ?? 0;
  }

  async open(events: BackendEvents): Promise<void> {
    this.events = events;
    const child = this.spawn();
    this.child = child;
    const ended = exitOf(child);
    child.stderr?.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    await spawned(child);
    endWithUs(child);
    const probe = this.dialect === 'synod' ? createProbe(undefined) : null;
    this.stream = openLineStream(child.stdout as Readable, child.stdin as Writable, {
      onLines: (lines) => {
        const others = probe?.isPending ? probe.take(lines) : lines;
        if (others.length > 0) events.onLines(others);
      },
      onTooLarge: (bytes) => events.onLog('error', `an answer of ${bytes} bytes was skipped`),
      onEnd: () => {
        this.isEnding = true;
      },
    });
    void ended.then((how) => {
      this.isEnding = false;
      this.stderr.end();
      const problem = new TransportError(`the bus ${how}${this.lastWords()}`);
      if (probe?.isPending) probe.fail(problem);
      else if (!this.isStopping) events.onDown(problem, false);
    });
    this.giveConfig(child);
    if (probe === null) return;
    this.stream.send(probe.line);
    const timeoutMs = (this.options.startTimeoutSec ?? START_TIMEOUT_SEC) * 1_000;
    try {
      await within(probe.answered, timeoutMs, () => this.notReady(timeoutMs));
    } catch (cause) {
      this.isStopping = true;
      this.destroy();
      throw new UnavailableError(`the bus did not start: ${(cause as Error).message}`, { cause });
    }
  }

  send(line: ByteLine): boolean {
    return this.stream?.send(line) ?? false;
  }

  async stop(timeoutMs: number): Promise<void> {
    this.isStopping = true;
    const { child } = this;
    if (child === null || !isRunning(child)) return;
    const closed = once(child, 'close');
    this.stream?.end();
    if (await isOver(closed, timeoutMs)) return;
    child.kill('SIGTERM');
    if (await isOver(closed, TERM_GRACE_MS)) return;
    child.kill('SIGKILL');
    await closed;
  }

  destroy(): void {
    this.isStopping = true;
    if (this.child !== null && isRunning(this.child)) this.child.kill('SIGKILL');
  }

  look(): null {
    return null;
  }

  stderrTail(count: number): readonly string[] {
    return count > 0 ? this.stderr.tail().slice(-count) : [];
  }

  private spawn(): ChildProcess {
    const { binaryPath, env = {}, envAllow = [] } = this.options;
    const { config } = this;
    const source =
      'path' in config ? ['--config', config.path] : ['--config-fd', String(CONFIG_FD)];
    // A config file may ask for another framing; this line is always one of lines.
    const framing = this.dialect === 'synod' ? ['--framing', 'ndjson'] : [];
    const args = [...source, '--stdio', ...framing];
    const [command, ...rest] =
      binaryPath === undefined
        ? [process.execPath, OWN_BUS, 'bus', ...args]
        : [binaryPath, ...args];
    return spawn(command, rest, {
      // Our own bus chooses for its workers; another hands on all it has.
      env:
        this.dialect === 'synod'
          ? { ...process.env, ...env }
          : workerEnvironment(process.env, envAllow, env),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
  }

  private giveConfig(child: ChildProcess): void {
    const pipe = child.stdio[CONFIG_FD] as Duplex;
    // A bus that is gone before it has read tells why by its exit.
    pipe.on('error', () => {});
    pipe.end('path' in this.config ? '' : JSON.stringify(this.config.document));
  }

  private notReady(timeoutMs: number): Error {
    return new Error(`it did not answer within ${timeoutMs / 1_000} s${this.lastWords()}`);
  }

  private lastWords(): string {
    // The cause stands first and the end of a stack trace last: one line would not do.
    const last = this.stderrTail(STDERR_LINES_SHOWN);
    return last.length === 0 ? '' : `; it said last: ${last.join(' | ')}`;
  }
}

async function spawned(child: ChildProcess): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new UnavailableError(
      `${child.spawnfile} cannot be started (${code}); check the path and that it may be run`,
      { cause },
    );
  }
}

function isOver(closed: Promise<unknown>, ms: number): Promise<boolean> {
  return within(closed, ms, () => new Error('late')).then(
    () => true,
    () => false,
  );
}
