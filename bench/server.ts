/**
 * The servers under measurement, each a process of its own in a fresh directory.
 *
 * A server is ready when its first line on stdout says so; closing it waits for its exit and
 * removes the directory, unless the caller brought one. With `isInspected` its memory can be read
 * after a forced collection, through Node's own inspector, so the hub needs no door for it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { type Memory, openInspector } from './inspector.ts';
import { busyUsOf } from './process.ts';

export type ServerName = 'hub' | 'bare' | 'jetstream' | 'broadcast';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Resolves when its process has ended, however that came. */
  readonly gone: Promise<void>;
  /** Where it speaks Synapse; only of a hub that was asked to. */
  readonly synapse: string;
  /** From the start of the process to its first answer over HTTP. */
  readonly startMs: number;
  /** Resolves when it has nothing more to do by itself: what it began with the start is done. */
  settled(): Promise<void>;
  /** Bytes after a full collection; only of an inspected server. */
  readMemory(): Promise<Memory>;
  close(): Promise<void>;
}

export const ROOT: string = join(import.meta.dirname, '..');
/** The checkout whose hub is measured: this one, unless `compare.ts` says otherwise. */
export const HUB_ROOT: string = process.env.SYNOD_BENCH_HUB ?? ROOT;
const CLOSE_TIMEOUT_MS = 30_000;
const READY_TIMEOUT_MS = 60_000;

/**
 * What is measured is the program as its users run it: a checkout whose sources changed since it was built would run
 * them instead, and start in twice the time. `compare.ts` has built both of its own.
 */
export function buildHub(): void {
  const isCheckout = existsSync(join(ROOT, 'src/cli/main.ts'));
  if (!isCheckout || HUB_ROOT !== ROOT) return;
  execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: ['ignore', 2, 'inherit'] });
}

export async function openServer(
  name: ServerName,
  options: {
    dir?: string;
    isInspected?: boolean;
    hasSynapse?: boolean;
    /** Behind all others: the last of two that say the same counts. */
    args?: readonly string[];
  } = {},
): Promise<Server> {
  const dir = options.dir ?? (await createScratch());
  const inspect = options.isInspected === true ? ['--inspect=127.0.0.1:0'] : [];
  const from = performance.now();
  const more = options.hasSynapse === true ? ['--synapse', '0', '--synapse-token', 'none'] : [];
  const args = [...commandOf(name, dir), ...more, ...(options.args ?? [])];
  const child = spawn(process.execPath, [...inspect, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4_000);
  });
  const { url, synapse = '' } = await ready(child, () => `${name} did not start: ${complaint}`);
  // The broadcaster has no HTTP; it answers 426, which is an answer.
  await (await fetch(`${url}/health`)).arrayBuffer();
  const startMs = performance.now() - from;
  const gone = once(child, 'exit').then(() => {});
  child.once('exit', (code) => {
    if (code !== 0 && code !== null)
      process.stderr.write(`${name} ended with ${code}: ${complaint}\n`);
  });
  return {
    url,
    synapse,
    pid: child.pid as number,
    gone,
    startMs,
    settled: () => settled(child),
    async readMemory() {
      const address = /ws:\/\/\S+/.exec(complaint)?.[0];
      if (address === undefined) throw new Error(`${name} was not started with an inspector`);
      await using inspector = await openInspector(address);
      return await inspector.readMemory();
    },
    async close() {
      await stop(child);
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Several servers side by side, closed together; the hub is left out when there is none. */
export async function openServers(
  names: readonly ServerName[],
  hasHub: boolean,
): Promise<
  AsyncDisposable & {
    readonly urls: ReadonlyMap<ServerName, string>;
    readonly all: ReadonlyMap<ServerName, Server>;
  }
> {
  const opened: Server[] = [];
  const urls = new Map<ServerName, string>();
  const all = new Map<ServerName, Server>();
  const close = async () => {
    await Promise.all(opened.map((server) => server.close()));
  };
  try {
    for (const name of names) {
      if (name === 'hub' && !hasHub) continue;
      const server = await openServer(name);
      opened.push(server);
      urls.set(name, server.url);
      all.set(name, server);
    }
  } catch (cause) {
    await close();
    throw cause;
  }
  return { urls, all, [Symbol.asyncDispose]: close };
}

export function createScratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'synod-bench-'));
}

function commandOf(name: ServerName, dir: string): string[] {
  if (name === 'bare') return [join(ROOT, 'bench/baseline/bare-loop.ts'), dir];
  // Behind it comes the store, among what the caller gives.
  if (name === 'jetstream') return [join(ROOT, 'bench/baseline/jetstream-server.ts')];
  if (name === 'broadcast') return [join(ROOT, 'bench/baseline/ws-broadcast.ts')];
  const where = ['--host', '127.0.0.1', '--port', '0', '--dir', dir];
  const store = ['--store', `sqlite://${join(dir, 'log.sqlite')}`];
  return [join(HUB_ROOT, 'bin/synod.js'), 'serve', ...where, ...store, '--auth', 'open', '--json'];
}

interface Ready {
  readonly url: string;
  readonly synapse?: string;
}

function ready(child: ChildProcess, complain: () => string): Promise<Ready> {
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  const deadline = setTimeout(() => {
    child.kill('SIGKILL');
    reject(new Error(complain()));
  }, READY_TIMEOUT_MS);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.once('line', (line) => {
    clearTimeout(deadline);
    // Later lines are read and dropped: a full pipe would stop the server.
    const said = JSON.parse(line) as Ready;
    resolve({ ...said, url: said.url.replace(/\/$/, '') });
  });
  child.once('exit', () => {
    clearTimeout(deadline);
    reject(new Error(complain()));
  });
  return promise;
}

/** Of a second of its processor time less than this is used: it waits. */
const IDLE_MS = 50;
/** A hub begins by itself to write its index after five seconds, and to walk its chain after ten. */
const IDLE_SECONDS = 12;
const SETTLE_TIMEOUT_MS = 300_000;

async function settled(child: ChildProcess): Promise<void> {
  const stopAt = performance.now() + SETTLE_TIMEOUT_MS;
  const busyMs = () => busyUsOf(child.pid as number) / 1000;
  let idle = 0;
  for (let before = busyMs(); performance.now() < stopAt; ) {
    await wait(1_000);
    const now = busyMs();
    idle = now - before < IDLE_MS ? idle + 1 : 0;
    if (idle === IDLE_SECONDS) return;
    before = now;
  }
  throw new Error(`the server was still busy after ${SETTLE_TIMEOUT_MS / 1_000} s`);
}

/** Asks it to end, and makes it. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const deadline = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
  await gone;
  clearTimeout(deadline);
}
