/**
 * A bus that runs already, joined by its Unix socket or TCP address. A line that breaks is made anew,
 * with growing waits and a number of attempts; what was on its way when it broke is never sent again
 * by this side, because it cannot know whether it ran.
 */
import { createConnection, type Socket } from 'node:net';
import type { ByteLine } from '../process/byte-line.ts';
import type { Backend, BackendEvents } from './backend.ts';
import { StdioBusError, TransportError, UnavailableError } from './errors.ts';
import { type LineStream, openLineStream } from './line-stream.ts';
import type { SocketOptions } from './options.ts';
import { createProbe, within } from './probe.ts';
import type { BackendType, Dialect } from './states.ts';

const CONNECT_TIMEOUT_SEC = 5;
const ATTEMPTS_MAX = 100;
const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 30_000;
/** What the other side always gets to close its end. */
const CLOSE_MS_MIN = 200;

export class SocketBackend implements Backend {
  readonly type: BackendType;
  readonly listenMode = 'none';
  readonly messageBytesMax = null;
  readonly dialect: Dialect;
  private readonly options: SocketOptions;
  private readonly where: string;
  private socket: Socket | null = null;
  private stream: LineStream | null = null;
  private events: BackendEvents | null = null;
  private retry: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(options: SocketOptions, type: BackendType = 'socket') {
    this.options = options;
    this.type = type;
    this.dialect = options.dialect ?? 'synod';
    this.where = options.unixPath ?? `${options.tcpHost ?? '127.0.0.1'}:${options.tcpPort}`;
  }

  get queuedBytes(): number {
    return this.stream?.queuedBytes ?? 0;
  }

  get isOpen(): boolean {
    return this.stream !== null;
  }

  async open(events: BackendEvents): Promise<void> {
    this.events = events;
    await this.connect();
  }

  send(line: ByteLine): boolean {
    return this.stream?.send(line) ?? false;
  }

  async stop(timeoutMs: number): Promise<void> {
    this.isOver = true;
    clearTimeout(this.retry);
    const { socket } = this;
    if (socket === null || socket.destroyed) return;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.stream?.end();
    const waitMs = Math.max(CLOSE_MS_MIN, timeoutMs);
    await within(closed, waitMs, () => late(waitMs)).catch(() => socket.destroy());
  }

  destroy(): void {
    this.isOver = true;
    clearTimeout(this.retry);
    this.socket?.destroy();
  }

  look(): null {
    return null;
  }

  stderrTail(): readonly string[] {
    return [];
  }

  /** One attempt: connected, and the bus has let us in. */
  private async connect(): Promise<void> {
    const { unixPath, tcpHost = '127.0.0.1', tcpPort = 0, token } = this.options;
    const timeoutMs = (this.options.connectTimeoutSec ?? CONNECT_TIMEOUT_SEC) * 1_000;
    const socket = createConnection(
      unixPath === undefined
        ? {
            host: tcpHost,
            port: tcpPort,
            noDelay: true,
            keepAlive: true,
            keepAliveInitialDelay: KEEP_ALIVE_MS,
          }
        : { path: unixPath },
    );
    this.socket = socket;
    const opened = Promise.withResolvers<void>();
    socket.once('connect', () => opened.resolve());
    const first = this.dialect === 'synod' ? createProbe(token) : null;
    let isUp = false;
    const stream = openLineStream(socket, socket, {
      onLines: (lines) => {
        const others = first?.isPending ? first.take(lines) : lines;
        if (others.length > 0) this.events?.onLines(others);
      },
      onTooLarge: (bytes) => this.events?.onLog('error', `an answer of ${bytes} bytes was skipped`),
      onEnd: (cause) => {
        socket.destroy();
        const why = cause === null ? 'the bus closed the line' : cause.message;
        const problem = new TransportError(`${this.where}: ${why}`, { cause });
        opened.reject(problem);
        first?.fail(problem);
        if (isUp) this.broke(problem);
      },
    });
    try {
      await within(opened.promise, timeoutMs, () => late(timeoutMs));
      if (first !== null) {
        stream.send(first.line);
        await within(first.answered, timeoutMs, () => late(timeoutMs));
      }
    } catch (cause) {
      socket.destroy();
      if (cause instanceof StdioBusError && cause.rpcCode !== null) throw cause;
      throw new UnavailableError(
        `no bus answers at ${this.where}: ${(cause as Error).message}; start one, or check the address`,
        { cause },
      );
    }
    if (this.isOver || socket.destroyed) {
      socket.destroy();
      throw new TransportError(`${this.where}: the line was closed as soon as it was open`);
    }
    isUp = true;
    this.stream = stream;
  }

  private broke(problem: TransportError): void {
    this.stream = null;
    if (this.isOver) return;
    const { reconnect } = this.options;
    if (reconnect === false) {
      this.isOver = true;
      this.events?.onDown(problem, false);
      return;
    }
    this.events?.onDown(problem, true);
    this.tryAgain(1);
  }

  private tryAgain(attempt: number): void {
    const {
      attemptsMax = ATTEMPTS_MAX,
      waitMsMin = WAIT_MS_MIN,
      waitMsMax = WAIT_MS_MAX,
      random = Math.random,
    } = this.options.reconnect || {};
    const boundMs = Math.min(waitMsMax, waitMsMin * 2 ** Math.min(attempt - 1, 30));
    this.retry = setTimeout(
      () => {
        this.connect().then(
          () => this.isOver || this.events?.onUp(),
          (cause: Error) => {
            if (this.isOver) return;
            this.events?.onLog('warn', `attempt ${attempt} of ${attemptsMax}: ${cause.message}`);
            if (attempt < attemptsMax && !isRefusal(cause)) return this.tryAgain(attempt + 1);
            this.isOver = true;
            const given = new UnavailableError(
              `given up after ${attempt} attempts: ${cause.message}`,
              { cause },
            );
            this.events?.onDown(given, false);
          },
        );
      },
      waitMsMin / 2 + random() * boundMs,
    );
  }
}

/** A bus that knows us and says no will say no again; one that is full or stopping may not. */
function isRefusal(cause: Error): boolean {
  return cause instanceof StdioBusError && cause.rpcCode !== null && !cause.isRetryable;
}

function late(timeoutMs: number): Error {
  return new Error(`nothing came within ${timeoutMs / 1_000} s`);
}
