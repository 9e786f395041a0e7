/**
 * Spawns a worker process: its command, without a shell, in a session and a process group of its
 * own, with exactly the environment given and the mark of its bus.
 *
 * A process that could not be started never exits either: `error` before `spawn` is all that comes.
 * The failure is a sentence that names the command, the directory and what to do [WO6]. Arguments and
 * variables are never part of it: they may hold credentials.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { MARK_NAME } from './live-groups.ts';
import type { WorkerSpec } from './spec.ts';

export interface SpawnFailure {
  readonly reason: string;
  /** It would fail in the same way again, until a file or the config is changed. */
  readonly isLasting: boolean;
}

/** The part of a worker's spec that a process is made from. */
export type Spawnable = Pick<WorkerSpec, 'command' | 'args' | 'cwd' | 'env'>;

export interface Spawned {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
}

/** The system is short of something it may have again in a moment. */
const PASSING = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY']);

/** Null when it failed; `onFailed` is then called, always later. */
export function spawnChild(
  spec: Spawnable,
  mark: string,
  onFailed: (failure: SpawnFailure) => void,
): Spawned | null {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(spec.command, spec.args, {
      ...(spec.cwd !== null && { cwd: spec.cwd }),
      env: { ...spec.env, [MARK_NAME]: mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      // A console window of its own is what Windows would make of this.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    process.nextTick(() => onFailed(explainFailure(spec, error as NodeJS.ErrnoException)));
    return null;
  }
  if (child.pid === undefined) {
    child.once('error', (error) => onFailed(explainFailure(spec, error)));
    return null;
  }
  return { child, pid: child.pid };
}

function explainFailure(spec: Spawnable, error: NodeJS.ErrnoException): SpawnFailure {
  const code = error.code ?? error.name;
  const where = spec.cwd ?? ownDirectory();
  const what = `could not be started: ${JSON.stringify(spec.command)} in ${JSON.stringify(where)}`;
  const say = (trouble: string): SpawnFailure => ({
    reason: `${what}: ${trouble} (${code})`,
    isLasting: !PASSING.has(code),
  });
  // The system says ENOENT for a missing directory and for a missing program alike.
  if (!isDirectory(where)) return say('there is no such directory; create it, or change "cwd"');
  if (code === 'ENOENT') return say(explainMissing(spec, where));
  if (code === 'EACCES') {
    return say(
      'it may not be executed; make it executable, or name its interpreter as the command',
    );
  }
  if (PASSING.has(code)) {
    return say('the system is out of processes, memory or file descriptors; raise its limits');
  }
  if (code === 'E2BIG') return say('its arguments and variables are too long; pass less');
  return say('the system refused it; check "command", "args", "env" and "cwd"');
}

function explainMissing(spec: Spawnable, where: string): string {
  if (!spec.command.includes('/')) {
    return 'no such program on the PATH the worker is given; install it, or give its full path';
  }
  if (existsSync(resolve(where, spec.command))) {
    return 'the file is there, but not the interpreter its first line names; install that';
  }
  return 'there is no such file; correct "command", or install it';
}

/** Our own may have been removed under us. */
function ownDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '.';
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
