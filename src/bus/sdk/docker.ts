/**
 * The bus in a container, reached over a loopback port. The engine is any program that takes the
 * words of `docker run`; the config is mounted read-only; secrets go by the engine's environment,
 * never by its arguments. The container is attached to us and removed when it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ByteLine } from '../process/byte-line.ts';
import { workerEnvironment } from '../process/environment.ts';
import { createStderrRing, type StderrRing } from '../process/stderr-ring.ts';
import type { Backend, BackendEvents } from './backend.ts';
import type { BusDocument } from './bus-document.ts';
import { TransportError, UnavailableError } from './errors.ts';
import type { DockerOptions } from './options.ts';
import { endWithUs, exitOf, isRunning } from './own-children.ts';
import { within } from './probe.ts';
import { SocketBackend } from './socket.ts';
import type { Dialect } from './states.ts';

/** Where the Dockerfile lies. */
const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url));
const ENGINE = 'docker';
const STARTUP_TIMEOUT_SEC = 15;
const LOOK_EVERY_MS = 100;
const STOP_GRACE_MS = 5_000;
const REMOVE_MS_MAX = 10_000;
const STDERR_LINES = 200;
/** The last line of an engine is often only where to read more. */
const STDERR_LINES_SHOWN = 8;
const CONTAINER_PORT = 8_765;
const CONFIG_TARGET = '/app/config.json';
const PULL = { never: 'never', 'if-missing': 'missing', always: 'always' } as const;
/** What the engine itself is configured by. */
const ENGINE_VARIABLES = ['DOCKER_*', 'CONTAINER_*', 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK'];

export class DockerBackend implements Backend {
  readonly type = 'docker';
  readonly listenMode = 'none';
  readonly messageBytesMax: number | null;
  readonly dialect: Dialect;
  private readonly config: BusDocument | { readonly path: string };
  private readonly options: DockerOptions;
  private readonly image: string;
  private readonly name: string;
  private readonly stderr: StderrRing;
  private engine: ChildProcess | null = null;
  private line: SocketBackend | null = null;
  private events: BackendEvents | null = null;
  private folder: string | null = null;
  private isOver = false;
  /** How the engine's process ended. */
  private gone: Promise<string> = Promise.resolve('was never started');

  constructor(config: BusDocument | { readonly path: string }, options: DockerOptions) {
    this.config = config;
    this.options = options;
    this.image = options.image ?? ownImage();
    const isTheirs = /^(docker\.io\/)?stdiobus\//.test(this.image);
    this.dialect = options.dialect ?? (isTheirs ? 'stdio_bus' : 'synod');
    this.messageBytesMax = 'path' in config ? null : config.parsed.limits.messageBytesMax;
    this.name = `${options.containerNamePrefix ?? 'stdiobus'}-${crypto.randomUUID().slice(0, 8)}`;
    this.stderr = createStderrRing(STDERR_LINES, (text) => this.events?.onLog('info', text));
  }

  get queuedBytes(): number {
    return this.line?.queuedBytes ?? 0;
  }

  async open(events: BackendEvents): Promise<void> {
    this.events = events;
    const port = await freePort();
    const token = crypto.randomUUID();
    await this.run(port, token);
    const timeoutMs = (this.options.startupTimeoutSec ?? STARTUP_TIMEOUT_SEC) * 1_000;
    try {
      const late = (): Error => new Error(`it did not answer within ${timeoutMs / 1_000} s`);
      const died = this.gone.then((how) => Promise.reject(new Error(`the container ${how}`)));
      await within(Promise.race([this.join(port, token), died]), timeoutMs, late);
    } catch (cause) {
      await this.stop(0);
      const last = this.stderrTail(STDERR_LINES_SHOWN);
      const said = last.length === 0 ? '' : `; the engine said last: ${last.join(' | ')}`;
      const why = `the bus in ${this.image} did not start: ${(cause as Error).message}`;
      throw new UnavailableError(`${why}${said}${this.remedy()}`, { cause });
    }
  }

  send(line: ByteLine): boolean {
    return this.line?.send(line) ?? false;
  }

  async stop(timeoutMs: number): Promise<void> {
    this.isOver = true;
    await this.line?.stop(timeoutMs);
    const { engine } = this;
    if (engine !== null && isRunning(engine)) {
      const closed = once(engine, 'close');
      // The engine hands the signal on to the bus, which drains.
      engine.kill('SIGTERM');
      const waitMs = Math.max(timeoutMs, STOP_GRACE_MS);
      await within(closed, waitMs, () => new Error('late')).catch(() => this.remove());
      if (isRunning(engine)) {
        engine.kill('SIGKILL');
        await closed;
      }
    }
    await this.clean();
  }

  destroy(): void {
    this.isOver = true;
    this.line?.destroy();
    if (this.engine !== null && isRunning(this.engine)) {
      this.engine.kill('SIGTERM');
      void this.remove();
    }
    void this.clean();
  }

  look(): null {
    return null;
  }

  stderrTail(count: number): readonly string[] {
    return count > 0 ? this.stderr.tail().slice(-count) : [];
  }

  private async run(port: number, token: string): Promise<void> {
    const { enginePath = ENGINE, image } = this.options;
    // The image of our own is built here, and nobody else is asked for one of its name.
    const { pullPolicy = image === undefined ? 'never' : 'if-missing' } = this.options;
    const { extraArgs = [], env = {} } = this.options;
    const names = [...Object.keys(env), ...(this.dialect === 'synod' ? ['SYNOD_BUS_TOKEN'] : [])];
    const args = [
      ...['run', '--rm', '--init', '--name', this.name, '--pull', PULL[pullPolicy]],
      ...['--publish', `127.0.0.1:${port}:${CONTAINER_PORT}`],
      ...[
        '--mount',
        `type=bind,source=${await this.placeConfig()},target=${CONFIG_TARGET},readonly`,
      ],
      ...names.flatMap((name) => ['--env', name]),
      ...extraArgs,
      this.image,
      ...['--config', CONFIG_TARGET, '--tcp', `0.0.0.0:${CONTAINER_PORT}`],
    ];
    const engine = spawn(enginePath, args, {
      env: workerEnvironment(process.env, ENGINE_VARIABLES, { ...env, SYNOD_BUS_TOKEN: token }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.engine = engine;
    this.gone = exitOf(engine);
    engine.stderr?.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    try {
      await once(engine, 'spawn');
      endWithUs(engine);
    } catch (cause) {
      this.engine = null;
      await this.clean();
      throw new UnavailableError(
        `there is no container engine at ${enginePath} (${(cause as NodeJS.ErrnoException).code}); ` +
          'install one, set docker.enginePath, or use backend "embedded"',
        { cause },
      );
    }
  }

  /** Tries until it is let in: the engine opens the port before the bus does. */
  private async join(port: number, token: string): Promise<void> {
    while (!this.isOver) {
      const line = new SocketBackend(
        { tcpPort: port, token, dialect: this.dialect, reconnect: false, connectTimeoutSec: 1 },
        'docker',
      );
      try {
        await line.open({
          onLines: (lines) => this.events?.onLines(lines),
          onLog: (level, text) => this.events?.onLog(level, text),
          onWarning: (text) => this.events?.onWarning(text),
          onUp() {},
          onDown: (problem) => this.broke(line, problem),
        });
        // The engine's own proxy takes a connection that it then cannot hand on.
        if (this.dialect === 'stdio_bus') await pause();
        if (this.isOver || !line.isOpen) throw new Error('the line was closed at once');
        this.line = line;
        return;
      } catch {
        line.destroy();
        await pause();
      }
    }
  }

  private broke(line: SocketBackend, problem: TransportError | Error): void {
    if (this.line !== line || this.isOver) return;
    this.isOver = true;
    this.events?.onDown(
      new TransportError(`the container's line broke: ${problem.message}`, { cause: problem }),
      false,
    );
  }

  private async placeConfig(): Promise<string> {
    if ('path' in this.config) return resolve(this.config.path);
    // The folder is ours alone; the file inside must be readable by the container's own user.
    this.folder = await mkdtemp(join(tmpdir(), 'synod-sdk-'));
    const path = join(this.folder, 'config.json');
    await writeFile(path, JSON.stringify(this.config.document), { mode: 0o644 });
    return path;
  }

  private remedy(): string {
    if (this.options.image !== undefined) return '';
    const { enginePath = ENGINE } = this.options;
    return `; unless it is there, build it: ${enginePath} build --tag ${this.image} ${PACKAGE}`;
  }

  private async remove(): Promise<void> {
    const engine = spawn(this.options.enginePath ?? ENGINE, ['rm', '--force', this.name], {
      env: workerEnvironment(process.env, ENGINE_VARIABLES, {}),
      stdio: 'ignore',
      timeout: REMOVE_MS_MAX,
    });
    await once(engine, 'close').catch(() => {});
  }

  private async clean(): Promise<void> {
    if (this.folder !== null) await rm(this.folder, { recursive: true, force: true });
    this.folder = null;
  }
}

/** Of this very version: a bus and its SDK are made for each other. */
function ownImage(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  return `localhost/synod-bus:${version}`;
}

function pause(): Promise<void> {
  return new Promise((go) => setTimeout(go, LOOK_EVERY_MS));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
