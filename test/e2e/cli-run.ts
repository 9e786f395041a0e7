/**
 * The executable as a person runs it: a real process, its exit code and what it printed. Nothing of
 * the caller's environment reaches it but the path; every process that is still alive at the
 * end of the file is killed, and so is the hub of its directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopHub } from '../../src/cli/down.ts';
import { BIN, CACHE } from '../program.ts';

export { BIN };

/** Long: a busy machine is not wrong. */
const RUN_TIMEOUT_MS = 50_000;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Where it is run; a folder of its own unless said. */
  readonly cwd?: string;
  /** Another program than the one that is tested: the sources themselves. */
  readonly bin?: string;
}

export interface Home {
  readonly dir: string;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs with --json and answers the document; throws when it failed. */
  json(args: readonly string[], options?: RunOptions): Promise<Record<string, unknown>>;
  /** What it printed; fails when it failed. */
  said(...args: string[]): Promise<string>;
  /** How it was refused; fails when it printed anything but that. */
  refused(...args: string[]): Promise<{ readonly code: number | null; readonly text: string }>;
  /** A process that stays; its output is handed over as it comes. */
  start(args: readonly string[], options?: RunOptions): Running;
  close(): Promise<void>;
}

export interface Running {
  readonly child: ChildProcess;
  /** Resolves once what it printed so far, on either stream, matches; rejects at the deadline. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  exited(): Promise<Ran>;
}

export function openHome(): Home {
  const home = mkdtempSync(join(tmpdir(), 'synod-cli-'));
  const dir = join(home, 'hub');
  const alive = new Set<ChildProcess>();

  function start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [options.bin ?? BIN, ...args], {
      cwd: options.cwd ?? home,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        XDG_CACHE_HOME: CACHE,
        SYNOD_DIR: dir,
        ...options.env,
      },
      stdio: 'pipe',
    });
    alive.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      child.emit('printed');
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
      child.emit('printed');
    });
    const closed = once(child, 'close').then(() => {
      alive.delete(child);
      child.emit('printed');
    });
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    const said = () => `stdout: ${stdout}\nstderr: ${stderr}`;
    return {
      child,
      async printed(pattern) {
        const late = AbortSignal.timeout(RUN_TIMEOUT_MS);
        for (;;) {
          const found = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (found !== null) return found;
          if (!alive.has(child)) throw new Error(`it ended without ${pattern}; ${said()}`);
          await once(child, 'printed', { signal: late }).catch((cause) => {
            throw new Error(`it never printed ${pattern}; ${said()}`, { cause });
          });
        }
      },
      async exited() {
        const timer = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_MS);
        await closed;
        clearTimeout(timer);
        if (child.signalCode === 'SIGKILL') throw new Error(`it did not end in time; ${said()}`);
        return { code: child.exitCode, stdout, stderr };
      },
    };
  }

  const run = (args: readonly string[], options?: RunOptions) => start(args, options).exited();
  return {
    dir,
    start,
    run,
    async json(args, options) {
      const { code, stdout, stderr } = await run([...args, '--json'], options);
      if (code !== 0) throw new Error(`${args.join(' ')} left with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async said(...args) {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`${args.join(' ')} left with ${code}: ${stderr}`);
      return stdout.trimEnd();
    },
    async refused(...args) {
      const { code, stdout, stderr } = await run(args);
      if (stdout !== '') throw new Error(`${args.join(' ')} was not refused: ${stdout}`);
      return { code, text: stderr };
    },
    async close() {
      const ends = [...alive].map((child) => once(child, 'close'));
      for (const child of alive) child.kill('SIGKILL');
      await Promise.all(ends);
      // As `synod down` does it. Most homes have no hub, and one that a test has broken has none.
      await stopHub(dir).catch(() => {});
      rmSync(home, { recursive: true, force: true });
    },
  };
}
