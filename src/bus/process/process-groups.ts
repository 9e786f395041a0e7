/**
 * Process groups. A worker is the leader of its own, so that its children can be reached with it.
 *
 * The number of a group is the number of its leader, and the system does not give that number to
 * another process while the group has a member. So once the leader is reaped, a process that has
 * its number is a stranger's, and the group is ours no more: it is never signalled [WO9].
 */
import { readdirSync, readFileSync } from 'node:fs';

const IS_WINDOWS = process.platform === 'win32';
const IS_LINUX = process.platform === 'linux';

/** Returns false when there was no process to signal. */
export function signalGroup(pid: number, signal: NodeJS.Signals, isLeaderReaped: boolean): boolean {
  if (isLeaderReaped && (IS_WINDOWS || exists(pid))) return false;
  // Windows has no groups: the process itself is all that can be reached.
  return kill(IS_WINDOWS ? pid : -pid, signal) === 'done';
}

/** Whether nothing that can still run is left in the group of a leader that was reaped. */
export function isGroupGone(pid: number): boolean {
  if (IS_WINDOWS || exists(pid)) return true;
  // 'refused' is left to its owner: every member has changed its user, and we may not touch it.
  if (kill(-pid, 0) !== 'done') return true;
  return IS_LINUX && isOnlyZombies(pid);
}

/**
 * When a process began, in the system's own ticks: with its number this names one process for ever.
 * `-` where the system does not tell it so cheaply.
 */
export function bornAt(pid: number): string {
  return (IS_LINUX && readStat(String(pid))?.[19]) || '-';
}

function kill(pid: number, signal: NodeJS.Signals | 0): 'done' | 'gone' | 'refused' {
  try {
    process.kill(pid, signal);
    return 'done';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused';
  }
}

function exists(pid: number): boolean {
  return kill(pid, 0) !== 'gone';
}

/** Where no init reaps orphans, as in many containers, the dead stay in the table for ever. */
function isOnlyZombies(group: number): boolean {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    // Without /proc the answer of kill stands.
    return false;
  }
  const members = pids.map(readStat).filter((stat) => stat?.[2] === String(group));
  return members.every((stat) => stat?.[0] === 'Z' || stat?.[0] === 'X');
}

/** The fields after the name, which may itself hold blanks and brackets: state, parent, group, … */
function readStat(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It ended while we looked.
    return null;
  }
}
