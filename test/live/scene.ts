/**
 * A place for one vendor's command line: a home and a project of its own in a temporary folder, an
 * environment made from nothing, and every process in it ended at the end. What a vendor finds in
 * the person's real home, and any real credential, stays out of reach.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BIN } from '../e2e/cli-run.ts';
import { cliFolder } from './clis.ts';

const RUN_TIMEOUT_MS = 60_000;
/**
 * Compiled code may be shared: it depends on the sources alone. It is written when a process ends,
 * which for a hub or a bridge may be after the scene has gone.
 */
export const OUR_CACHE: string = fileURLToPath(
  new URL('../../node_modules/.cache', import.meta.url),
);

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: (timeoutMs?: number) => Promise<Ran>;
}

export type Environment = Readonly<Record<string, string>>;

export interface Scene {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  /** The data directory of this scene's hub. */
  readonly hub: string;
  /** The environment everything here runs in, with something added. */
  readonly env: (more?: Environment) => Environment;
  /** Writes a file below the root, and the folders above it. */
  readonly write: (path: string, content: string | object, mode?: number) => string;
  readonly read: (path: string) => string;
  readonly has: (path: string) => boolean;
  readonly start: (program: string, args: readonly string[], options?: StartOptions) => Started;
  /** Runs to the end, with nothing on its input. */
  readonly run: (program: string, args: readonly string[], options?: StartOptions) => Promise<Ran>;
  /** Our own command line, at this scene's hub. */
  readonly synod: (...args: string[]) => Promise<Ran>;
  readonly atEnd: (undo: () => Promise<void> | void) => void;
  readonly close: () => Promise<void>;
}

export interface StartOptions {
  readonly env?: Environment;
  /** Its input stays open, to be written to; it is closed at once unless said. */
  readonly keepsInput?: boolean;
}

export interface SceneOptions {
  /** As a person has it: the hub in the home, the vendors on the PATH, and nothing set for Synod. */
  readonly isPersons?: boolean;
}

export function openScene({ isPersons = false }: SceneOptions = {}): Scene {
  // Vendors resolve links: a project must have one name only.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'synod-live-')));
  const home = join(root, 'home');
  const project = join(root, 'project');
  const hub = isPersons ? join(home, '.synod') : join(root, 'hub');
  for (const folder of [home, project]) mkdirSync(folder);
  spawnSync('git', ['init', '-q', project]);
  // What a vendor starts has no variable that says where our compiled code is: there it is a link.
  const ours = isPersons ? {} : { XDG_CACHE_HOME: OUR_CACHE };
  if (isPersons) {
    mkdirSync(join(home, '.cache'));
    symlinkSync(join(OUR_CACHE, 'synod'), join(home, '.cache', 'synod'));
  }
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const alive = new Set<ChildProcess>();
  const undoes: (() => Promise<void> | void)[] = [];

  const env = (more: Environment = {}): Environment => ({
    HOME: home,
    PATH: isPersons ? `${cliFolder()}:${path}` : path,
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ...(!isPersons && { SYNOD_DIR: hub }),
    ...more,
  });

  function start(program: string, args: readonly string[], options: StartOptions = {}): Started {
    // A group of its own, so that what it starts can be ended with it.
    const child = spawn(program, args, {
      cwd: project,
      env: env(options.env),
      stdio: 'pipe',
      detached: true,
    });
    alive.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {});
    if (options.keepsInput !== true) child.stdin.end();
    const closed = once(child, 'close').then(() => alive.delete(child));
    return {
      child,
      stdout: () => stdout,
      stderr: () => stderr,
      async exited(timeoutMs = RUN_TIMEOUT_MS) {
        const timer = setTimeout(() => killGroup(child), timeoutMs);
        await closed;
        clearTimeout(timer);
        if (child.signalCode === 'SIGKILL') {
          throw new Error(`${program} did not end in time\n${stdout}\n${stderr}`);
        }
        return { code: child.exitCode, stdout, stderr };
      },
    };
  }

  return {
    root,
    home,
    project,
    hub,
    env,
    start,
    run: (program, args, options) => start(program, args, options).exited(),
    synod: (...args) =>
      start(process.execPath, [BIN, ...args, '--dir', hub], { env: ours }).exited(),
    write(path, content, mode = 0o644) {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      writeFileSync(full, text, { mode });
      return full;
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    has: (path) => existsSync(join(root, path)),
    atEnd: (undo) => void undoes.unshift(undo),
    async close() {
      for (const undo of undoes) await undo();
      const ends = [...alive].map((child) => once(child, 'close'));
      for (const child of alive) killGroup(child);
      await Promise.all(ends);
      if (existsSync(hub)) {
        spawnSync(process.execPath, [BIN, 'down', '--dir', hub], { env: env(ours) });
      }
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}
