/**
 * A real server in its own process, in its own empty project.
 *
 * `launch` resolves when the server said that it is ready, or when it refused
 * to start; it throws when neither happened by the deadline. Nothing of the
 * caller's environment reaches the server except the path. A server that does
 * not stop cleanly on SIGTERM is a failure, and none outlives this process.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { createSharedStore, IS_CLUSTER, SERVER_NAMES } from '../../cluster/shared-store.ts';
import { enrolByFlags } from '../../nats/enrol.ts';
import { BIN, CACHE } from '../../program.ts';
import { type PluginPackage, writePlugins } from './plugin-project.ts';
import type { Boot } from './story.ts';

export const SYNOD: string = BIN;

/** Long: a busy machine is not wrong. */
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const LOG_CHARS_MAX = 200_000;

export interface RunningServer {
  readonly url: string;
  /** Every address it has; each is as good as another. */
  readonly urls: readonly string[];
  /** What it wrote on stderr so far. */
  log(): string;
  /** What the plugins of the project wrote so far, by line, at each server. */
  journals(): Promise<readonly (readonly string[])[]>;
  /** Makes a space, as its owner would: a story may begin with a question, which makes none. */
  makeSpace(name: string): Promise<void>;
  /** Ends the process; safe to call twice. */
  stop(): Promise<void>;
  /** Stops it and removes the project. */
  close(): Promise<void>;
}

interface RefusedStart {
  readonly exitCode: number | null;
  readonly log: string;
}

type Launched = { readonly running: RunningServer } | { readonly refused: RefusedStart };

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** One server, or as many as share a store; to a story they are one, with several addresses. */
export async function launch(
  boot: Boot,
  plugins: readonly PluginPackage[] = boot.plugins ?? [],
): Promise<Launched> {
  if (!IS_CLUSTER) return launchOne(boot, plugins, ['--store', 'memory:']);
  // In memory, or in a JetStream that several servers share.
  const store = createSharedStore();
  const all: RunningServer[] = [];
  for (const [i, name] of SERVER_NAMES.entries()) {
    const args = ['--store', store.urls[i] as string, '--server-name', name];
    const launched = await launchOne(boot, plugins, args);
    if ('running' in launched) all.push(launched.running);
    else {
      await Promise.all(all.map((one) => one.close()));
      return launched;
    }
  }
  const [first] = all as [RunningServer, ...RunningServer[]];
  const each = async (work: (server: RunningServer) => Promise<void>): Promise<void> => {
    await Promise.all(all.map(work));
  };
  return {
    running: {
      url: first.url,
      urls: all.flatMap(({ urls }) => urls),
      log: () => all.map((one) => one.log()).join('\n'),
      journals: async () => (await Promise.all(all.map((one) => one.journals()))).flat(),
      makeSpace: first.makeSpace,
      stop: () => each((one) => one.stop()),
      close: () => each((one) => one.close()).finally(store.remove),
    },
  };
}

async function launchOne(
  boot: Boot,
  plugins: readonly PluginPackage[],
  store: readonly string[],
): Promise<Launched> {
  const project = await mkdtemp(join(tmpdir(), 'sox-conformance-'));
  await writeProject(project, boot, plugins);
  if (IS_CLUSTER) await enrolByFlags(join(project, 'hub'), store);
  const child = spawn(process.execPath, [SYNOD, ...serveArgs(project, boot, store)], {
    cwd: project,
    env: {
      ...environment(project),
      SOX_FIXTURE_JOURNAL: join(project, 'journal.txt'),
      ...(boot.serverConfig?.fault_inject === undefined ? {} : { SOX_TEST_FAULTS: '1' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-LOG_CHARS_MAX);
  });
  // Not 'exit': only 'close' comes after everything was read from the pipes.
  const closed = once(child, 'close').then((): undefined => {
    alive.delete(child);
  });
  const removeProject = () => rm(project, { recursive: true, force: true });

  const url = await withDeadline(
    Promise.race([readReadyLine(child), closed]),
    READY_TIMEOUT_MS,
    () => {
      child.kill('SIGKILL');
      return `the server was not ready in time; stderr: ${log}`;
    },
  );
  if (url === undefined) {
    await removeProject();
    return { refused: { exitCode: child.exitCode, log } };
  }

  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await withDeadline(closed, STOP_TIMEOUT_MS, () => {
      child.kill('SIGKILL');
      return `the server did not stop on SIGTERM; stderr: ${log}`;
    });
    if (child.exitCode !== 0) {
      const how = child.exitCode ?? child.signalCode;
      throw new Error(`the server did not stop cleanly (${how}); stderr: ${log}`);
    }
  };
  return {
    running: {
      url,
      urls: [url],
      log: () => log,
      journals: async () => [await readJournal(project)],
      async makeSpace(name) {
        const credential = await readFile(join(project, 'hub', 'credential'), 'utf8');
        // A server that is told to fail refuses this too, and every question before its space matters.
        await fetch(`${url}/v1/ops/spaces_create`, {
          method: 'POST',
          headers: { authorization: `Bearer ${credential.trim()}` },
          body: JSON.stringify({ name }),
        });
      },
      stop,
      close: () => stop().finally(removeProject),
    },
  };
}

/** What a process started by a story may know of the world around it. */
export function environment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, XDG_CACHE_HOME: CACHE, TMPDIR: tmpdir() };
}

function serveArgs(project: string, boot: Boot, store: readonly string[]): readonly string[] {
  return [
    'serve',
    ...['--host', '127.0.0.1', '--port', '0'],
    ...['--dir', join(project, 'hub'), ...store, '--auth', 'open'],
    ...['--config', join(project, 'config.json'), '--json', '--discovery'],
    ...(boot.args ?? []),
  ];
}

async function writeProject(
  project: string,
  boot: Boot,
  plugins: readonly PluginPackage[],
): Promise<void> {
  await mkdir(join(project, 'hub'), { mode: 0o700 });
  const config = {
    ...(boot.roster === undefined ? {} : { agents: boot.roster }),
    ...(boot.serverConfig === undefined ? {} : { server_config: boot.serverConfig }),
  };
  await writeFile(join(project, 'config.json'), JSON.stringify(config));
  await writeFile(join(project, 'package.json'), '{"name":"sox-conformance","private":true}');
  await writePlugins(project, plugins);
}

/** Stays pending when the server ends without a word: its exit tells the rest. */
function readReadyLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    // The reader goes on reading after the first line, or a talkative server would block on its pipe.
    createInterface({ input: child.stdout as Readable }).once('line', (line) => {
      const url = parseReadyLine(line);
      if (url !== undefined) resolve(url);
      else reject(new Error(`the first line on stdout is no ready line: ${line}`));
    });
  });
}

function parseReadyLine(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  const ready = JSON.parse(line) as { ready?: unknown; url?: unknown };
  return ready.ready === true && typeof ready.url === 'string' ? ready.url : undefined;
}

async function readJournal(project: string): Promise<readonly string[]> {
  const written = await readFile(join(project, 'journal.txt'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    },
  );
  return written.split('\n').filter((line) => line !== '');
}

async function withDeadline<T>(
  event: Promise<T>,
  afterMs: number,
  giveUp: () => string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(giveUp())), afterMs);
  });
  return await Promise.race([event, late]).finally(() => clearTimeout(timer));
}
