/**
 * The reaper: a small shell process that runs a moment longer than we do, so that no worker does [WO8].
 *
 * It holds one end of a pipe, we hold the other, and no worker inherits ours. However we end, the
 * system closes it, and the reaper kills what is left. It stands in a session of its own, so that
 * what kills our group does not kill it, and it never keeps us alive.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { REAPER_SCRIPT } from './reaper-script.ts';

export interface Reaper {
  add(pid: number, born: string): void;
  remove(pid: number): void;
}

/** Null where there is no POSIX shell. `onGone` is called when it ends before us, which it should not. */
export function openReaper(mark: string, onGone: () => void, proc = '/proc'): Reaper | null {
  if (process.platform === 'win32') return null;
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'synod-reaper', mark, proc], {
      cwd: '/',
      // Not our environment: the reaper of an inner bus must not carry the mark of an outer one.
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
  } catch {
    // Out of memory or the like: workers run without a net, and the next one asks again.
    return null;
  }
  let isOver = child.pid === undefined;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    onGone();
  };
  child.once('error', over);
  child.once('exit', over);
  child.unref();
  const pipe = child.stdin as Socket | null;
  // It is gone, and `exit` says so.
  pipe?.on('error', () => {});
  pipe?.unref();
  if (isOver || pipe === null) return null;
  // A short write to a pipe with room is done before `write` returns.
  return {
    add: (pid, born) => void (isOver || pipe.write(`+ ${pid} ${born}\n`)),
    remove: (pid) => void (isOver || pipe.write(`- ${pid}\n`)),
  };
}
