/** `synod down`: stops the hub that holds the data directory, and waits until it has let go. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { dataDirectory, type Globals, isAlive } from '../client/node/target.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';

const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 20;

export function registerDown(program: Command): void {
  const command = program.command('down').description('stop the hub that runs in the background');
  handle<Globals>(command, async ({ flags, show }) => {
    const dir = dataDirectory(flags.dir, process.env);
    const pid = await stopHub(dir);
    if (pid === null) return show({ stopped: false, dir }, () => [`no hub runs from ${dir}`]);
    show({ stopped: true, pid, dir }, () => [`stopped (process ${pid})`]);
  });
}

/** The process that was stopped; null where none ran. */
export async function stopHub(dir: string): Promise<number | null> {
  const { readHolder } = await import('../log/lock.ts');
  const pid = await hubProcess(dir);
  if (pid === null) return null;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  // Its number may outlive it where nobody collects it, so the directory is looked at as well.
  while (isAlive(pid) && (readHolder(dir)?.pid === pid || (await isHeld(dir)))) {
    if (Date.now() > deadline) {
      throw fail('hub.not-stopped', `process ${pid} is still running`, {
        hint: `end it with: kill -9 ${pid}`,
      });
    }
    await pause(POLL_MS);
  }
  return pid;
}

/** Who holds the directory; null where no hub runs. */
export async function hubProcess(dir: string): Promise<number | null> {
  const { readHolder } = await import('../log/lock.ts');
  return (await isHeld(dir)) ? (readHolder(dir)?.pid ?? null) : null;
}

/** The lock itself is asked: a process number that was written down may be anybody's by now. */
async function isHeld(dir: string): Promise<boolean> {
  if (!existsSync(join(dir, 'lock.sqlite'))) return false;
  const { lockDirectory } = await import('../log/lock.ts');
  try {
    lockDirectory(dir).release();
    return false;
  } catch (error) {
    if ((error as { code?: string }).code !== 'log.locked') throw error;
    return true;
  }
}
