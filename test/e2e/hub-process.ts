/**
 * A hub in a process of its own, started as a user starts it: `synod serve --json`. It can be
 * killed without warning, and none outlives the tests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { BIN, CACHE } from '../program.ts';
import { within } from './deadline.ts';

/** Long: a machine that runs ten of them at once is not wrong. */
const READY_MS = 50_000;

export interface HubProcess {
  readonly url: string;
  readonly child: ChildProcess;
  stderr(): string;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface Exited {
  readonly exitCode: number | null;
  readonly stderr: string;
}

export interface StartOptions {
  readonly args?: readonly string[];
  /** Puts the hub behind another program, such as `prlimit` or `unshare`. */
  readonly through?: readonly string[];
  readonly uid?: number;
  /** Another program than the one that is tested. */
  readonly bin?: string;
}

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Starts a hub on a directory: it is ready, or it has refused to start. */
export async function startHubProcess(
  dir: string,
  options: StartOptions = {},
): Promise<HubProcess | Exited> {
  const { args = [], through = [], uid, bin = BIN } = options;
  if (args.includes('--server-name'))
    await (await import('../nats/enrol.ts')).enrolByFlags(dir, args);
  const [program = '', ...rest] = [
    ...through,
    ...[process.execPath, bin, 'serve', '--dir', dir, '--port', '0', '--json', ...args],
  ];
  const child = spawn(program, rest, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), XDG_CACHE_HOME: CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  alive.add(child);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  // Only 'close' comes after everything was read from the pipes.
  const closed = once(child, 'close').then(() => void alive.delete(child));
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).once(
      'line',
      (line) => resolve(JSON.parse(line).url),
    );
  });
  const begun = within('the hub is ready or gone', Promise.race([ready, closed]), READY_MS);
  const url = await begun.catch((cause: unknown) => {
    child.kill('SIGKILL');
    throw cause;
  });
  if (typeof url !== 'string') return { exitCode: child.exitCode, stderr };
  return {
    url,
    child,
    stderr: () => stderr,
    async kill() {
      child.kill('SIGKILL');
      await within('the killed hub is gone', closed);
    },
    async stop() {
      child.kill('SIGTERM');
      await within('the stopped hub is gone', closed);
      return child.exitCode;
    },
  };
}

export function isRunning(hub: HubProcess | Exited): hub is HubProcess {
  return 'url' in hub;
}
