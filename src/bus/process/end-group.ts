/**
 * How a worker is ended: input closed, SIGTERM to the group, the grace, SIGKILL to the group; then
 * we wait until the group is empty, so that no child of the worker stays behind [WO7].
 *
 * When the leader ends by itself its children have no work left, and are killed at once. On
 * the way down they have the same grace as the leader: `npx` may be gone before what it started.
 */
import { timerMs } from './deadline.ts';
import { isGroupGone, signalGroup } from './process-groups.ts';

/** SIGKILL cannot be refused, but the system may be slow about it; after this we stop waiting. */
const UNKILLABLE_MS = 5_000;

const LOOK_MS_MIN = 2;
const LOOK_MS_MAX = 50;

export interface GroupEnding {
  /** Whether SIGKILL was needed. */
  readonly hasKilled: boolean;
  /** Begins to end it. Called again, it can only shorten the grace. */
  begin(graceMs: number): void;
  /** The leader was reaped: from now on its number stands for the group only. */
  leaderGone(): void;
}

/** `onGone` comes once; not empty when something of the group would not die. */
export function createGroupEnding(
  pid: number,
  closeInput: () => void,
  onGone: (isEmpty: boolean) => void,
): GroupEnding {
  let hasBegun = false;
  let isReaped = false;
  let hasKilled = false;
  let isOver = false;
  let killAt = Number.POSITIVE_INFINITY;
  let giveUpAt = Number.POSITIVE_INFINITY;
  let killTimer: NodeJS.Timeout | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
  let lookMs = LOOK_MS_MIN;

  function kill(): void {
    if (isOver) return;
    clearTimeout(killTimer);
    signalGroup(pid, 'SIGKILL', isReaped);
    giveUpAt = Math.min(giveUpAt, performance.now() + UNKILLABLE_MS);
    if (lookTimer === undefined) look();
  }

  /** An empty group is not announced by anything: it has to be looked for. */
  function look(): void {
    lookTimer = undefined;
    if (isReaped && isGroupGone(pid)) return over(true);
    if (performance.now() > giveUpAt) return over(false);
    // A member that was being born when the signal went out has not heard it.
    if (isReaped && giveUpAt < Number.POSITIVE_INFINITY) signalGroup(pid, 'SIGKILL', isReaped);
    lookTimer = setTimeout(look, lookMs);
    lookMs = Math.min(lookMs * 2, LOOK_MS_MAX);
  }

  function over(isEmpty: boolean): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(killTimer);
    clearTimeout(lookTimer);
    onGone(isEmpty);
  }

  return {
    get hasKilled() {
      return hasKilled;
    },
    begin(graceMs) {
      if (isOver) return;
      if (!hasBegun) {
        hasBegun = true;
        closeInput();
        signalGroup(pid, 'SIGTERM', isReaped);
      }
      const wantedAt = performance.now() + graceMs;
      if (wantedAt >= killAt) return;
      killAt = wantedAt;
      clearTimeout(killTimer);
      killTimer = setTimeout(() => {
        hasKilled = true;
        kill();
      }, timerMs(graceMs));
    },
    leaderGone() {
      isReaped = true;
      clearTimeout(lookTimer);
      lookTimer = undefined;
      lookMs = LOOK_MS_MIN;
      if (!hasBegun) kill();
      else look();
    },
  };
}
