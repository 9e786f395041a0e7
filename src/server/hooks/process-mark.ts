/**
 * Is that process still the same one? A pid alone is no answer, because pids are used again; with
 * the time the process started it is. Where that cannot be read, being there must do.
 */
import { readFileSync } from 'node:fs';

/** Null when no such process is there; else a word that another process under this pid would not have. */
export function processMark(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 1) return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program stands in parentheses and may hold anything, also parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    return state === 'Z' || startedAt === undefined ? null : startedAt;
  } catch {
    return isThere(pid) ? 'there' : null;
  }
}

/** For systems without /proc. */
function isThere(pid: number): boolean {
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
