/**
 * The process groups of all workers of this process. When we end, they end: by the
 * handler below when we exit in an orderly way [WO10], by the reaper however else [WO8].
 *
 * It is shared because the process is: one reaper and one handler serve every bus in it. Both come
 * with the first worker; importing this does nothing.
 */
import { bornAt, signalGroup } from './process-groups.ts';
import { openReaper, type Reaper } from './reaper.ts';
import { uniqueText } from './secrets.ts';

/** Every worker carries it, and so do its children, wherever they go. */
export const MARK_NAME = 'SYNOD_WORKER_OF';
/** What a mark is, for those who read one back; earlier ones were UUIDs. */
export const MARK: RegExp = /^(?:[0-9a-f]{32}|[0-9a-f-]{36})$/;

/** A reaper that is killed again and again has an enemy, and we do not fight it. */
const REAPER_STARTS_MAX = 5;

const living = new Map<number, string>();
let mark: string | null = null;
let reaper: Reaper | null = null;
let reaperStarts = 0;

export interface LiveGroups {
  /** For the worker's environment, under `MARK_NAME`. */
  readonly mark: string;
  /** Whether a reaper watches. */
  readonly isGuarded: boolean;
}

/** To be called before a worker is spawned. */
export function prepareGroups(): LiveGroups {
  if (mark === null) {
    mark = uniqueText();
    process.on('exit', killAll);
  }
  ensureReaper(mark);
  return { mark, isGuarded: reaper !== null };
}

export function addGroup(pid: number): void {
  const born = bornAt(pid);
  living.set(pid, born);
  reaper?.add(pid, born);
}

/** Its group is empty: another process may get the number from now on. */
export function removeGroup(pid: number): void {
  if (living.delete(pid)) reaper?.remove(pid);
}

function ensureReaper(ourMark: string): void {
  if (reaper !== null || reaperStarts >= REAPER_STARTS_MAX) return;
  reaperStarts += 1;
  reaper = openReaper(ourMark, () => {
    reaper = null;
    if (living.size > 0) ensureReaper(ourMark);
  });
  for (const [pid, born] of living) reaper?.add(pid, born);
}

function killAll(): void {
  for (const [pid, born] of living) signalGroup(pid, 'SIGKILL', bornAt(pid) !== born);
}
