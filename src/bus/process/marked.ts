/**
 * Processes that carry a mark in their environment, wherever they went: a daemon leaves the group and
 * the session it was started in, but takes its environment along. They are looked for a slice at
 * a time, so that a machine with many processes does not hold anybody up. Where the system does not
 * show environments, nothing is found, and the group is all that can be reached.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { MARK_NAME } from './live-groups.ts';

const SLICE = 64;
/** What is killed may have forked in between; a program that forks faster than this has won. */
const ROUNDS_MAX = 50;
const ROUND_MS = 20;

/** Kills every process whose mark begins with this one. Answers whether none is left. */
export async function killMarked(mark: string, proc = '/proc'): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const pids = await findMarked(mark, proc);
    if (pids.length === 0) return true;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself, or is not ours to end.
      }
    }
    await setTimeout(ROUND_MS);
  }
  return false;
}

async function findMarked(mark: string, proc: string): Promise<number[]> {
  let names: string[];
  try {
    names = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  const found: number[] = [];
  for (let at = 0; at < names.length; at++) {
    const pid = Number(names[at]);
    if (pid !== process.pid && isMarked(`${proc}/${pid}/environ`, mark)) found.push(pid);
    if (at % SLICE === SLICE - 1) await setImmediate();
  }
  return found;
}

function isMarked(path: string, mark: string): boolean {
  try {
    return `\0${readFileSync(path, 'latin1')}`.includes(`\0${MARK_NAME}=${mark}`);
  } catch {
    // It ended, or belongs to somebody else.
    return false;
  }
}
