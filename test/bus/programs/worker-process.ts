/**
 * A worker of the box as a real process on pipes. What it writes is read line by line and waited
 * for with a deadline; none outlives the tests.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { within } from '../../e2e/deadline.ts';
import { BIN, CACHE } from '../../program.ts';

export const SYNOD: string = BIN;

// biome-ignore lint/suspicious/noExplicitAny: what a worker writes is looked at field by field.
export type Message = Record<string, any>;

export interface WorkerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything it has written so far. */
  readonly heard: readonly Message[];
  stderr(): string;
  send(message: object): void;
  write(text: string): void;
  /** The first message, past or to come, that is the one wanted. */
  until(what: string, isWanted: (message: Message) => boolean): Promise<Message>;
  answer(id: unknown): Promise<Message>;
  /** Resolves once stderr says it. */
  noted(pattern: RegExp): Promise<void>;
  /** The exit code, once everything it wrote has been read. */
  exited(): Promise<number | null>;
}

export interface WorkerProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const alive = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export function spawnWorker(
  args: readonly string[],
  options: WorkerProcessOptions = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [SYNOD, 'worker', ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), XDG_CACHE_HOME: CACHE, ...options.env },
    stdio: 'pipe',
  });
  alive.add(child);
  child.once('close', () => alive.delete(child));
  child.stdin.on('error', () => {});
  return child;
}

export function startWorker(
  args: readonly string[],
  options: WorkerProcessOptions = {},
): WorkerProcess {
  const child = spawnWorker(args, options);
  const heard: Message[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    child.emit('noted');
  });
  // It sees a line end in U+2028 too: a worker's lines must survive that [WP1].
  createInterface({ input: child.stdout }).on('line', (line) => {
    heard.push(JSON.parse(line));
    child.emit('heard');
  });
  const closed = once(child, 'close');
  const write = (text: string): void => {
    child.stdin.write(text);
  };
  async function until(what: string, isWanted: (message: Message) => boolean): Promise<Message> {
    for (let from = 0; ; ) {
      const found = heard.slice(from).find(isWanted);
      if (found !== undefined) return found;
      from = heard.length;
      const more = Promise.race([
        once(child, 'heard'),
        closed.then(() => Promise.reject(new Error(`it ended before ${what}: ${stderr}`))),
      ]);
      await within(`${what}; stderr: ${stderr}`, more);
    }
  }
  return {
    child,
    heard,
    stderr: () => stderr,
    write,
    send: (message) => write(`${JSON.stringify(message)}\n`),
    until,
    answer: (id) =>
      until(`an answer to ${JSON.stringify(id)}`, (one) => one.id === id && !('method' in one)),
    async noted(pattern) {
      while (!pattern.test(stderr)) await within(`stderr says ${pattern}`, once(child, 'noted'));
    },
    async exited() {
      await within(`it ends; stderr: ${stderr}`, closed);
      return child.exitCode;
    },
  };
}

/** For questions whose answer is at hand: lets everything else happen before it is given. */
export async function soon<T>(look: () => T): Promise<T> {
  await new Promise((resolve) => setImmediate(resolve));
  return look();
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Every process of this file is gone afterwards. */
export async function killWorkers(): Promise<void> {
  const ends = [...alive].map((child) => once(child, 'close'));
  for (const child of alive) child.kill('SIGKILL');
  await Promise.all(ends);
}
