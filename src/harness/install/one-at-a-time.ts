/**
 * One install, uninstall or upgrade of a user at a time: each reads the record, plans and writes, and
 * two at once would forget what the other wrote. The lock is a file that names its process; one whose
 * process is gone is taken over.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const WAIT_MS = 30_000;
const LOOK_MS = 25;

/** Throws when another has it for too long; then nothing was done. */
export async function oneAtATime<T>(
  work: () => Promise<T>,
  path: string = join(tmpdir(), `synod-install-${userInfo().uid}.lock`),
  waitMs: number = WAIT_MS,
): Promise<T> {
  const until = performance.now() + waitMs;
  while (!take(path)) {
    if (performance.now() > until) {
      throw new Error(`another install has been going on for long; if none is, remove ${path}`);
    }
    await pause(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (isHeld(path)) return false;
  rmSync(path, { force: true });
  return false;
}

function isHeld(path: string): boolean {
  try {
    const text = readFileSync(path, 'utf8');
    // Empty: made this moment, and about to be named.
    if (text === '') return true;
    process.kill(Number(text), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
