/**
 * Snapshots bound how long a start takes [H8]. Freezing costs as much as there is, so
 * one is taken each time the log has grown by a quarter, and at least by `every`
 * entries: little for each entry, however long the log.
 *
 * The state is copied at once and written out in slices, with everybody else's work
 * between them, so that nobody waits for a snapshot [H20].
 */
import { beginFreeze } from '../core/law/snapshot.ts';
import type { World } from '../core/law/state.ts';
import type { Log } from '../log/log.ts';
import type { Clock } from './clock.ts';

const EVERY = 100_000;

export interface Snapshots {
  /**
   * To be called while memory and log agree; takes one when it is time and none is being
   * written. The last one is written whole before this returns, and saved in its own time.
   */
  offer(world: World, isLast?: boolean): void;
  /** When what was written is saved, or was not; what is half written is left. */
  settled(): Promise<void>;
}

interface Writing {
  readonly position: number;
  readonly head: string;
  readonly slices: Generator<void, string>;
}

export function createSnapshots(
  log: Log,
  clock: Clock,
  length: number,
  every: number | undefined,
  onTrouble: (what: string, cause: unknown) => void,
): Snapshots {
  const leastGrowth = every ?? EVERY;
  let takenAt = length;
  let writing: Writing | null = null;
  let saving: Promise<void> = Promise.resolve();

  function failed(cause: unknown): void {
    onTrouble('a snapshot was not saved; the next start takes longer', cause);
  }

  /** One slice, or all that are left. */
  function write(mine: Writing, isWhole: boolean): void {
    // Another one took its place, or the hub has closed.
    if (writing !== mine) return;
    try {
      let slice = mine.slices.next();
      while (isWhole && !slice.done) slice = mine.slices.next();
      if (!slice.done) return clock.soon(() => write(mine, false));
      writing = null;
      const snapshot = { position: mine.position, head: mine.head, text: slice.value };
      // One after the other: an older one must never overwrite a newer.
      saving = saving.then(() => log.saveSnapshot(snapshot)).catch(failed);
    } catch (cause) {
      writing = null;
      failed(cause);
    }
  }

  return {
    offer(world, isLast = false) {
      const growth = world.length - takenAt;
      const isTime = growth >= (isLast ? 1 : Math.max(leastGrowth, world.length / 4));
      if (isTime && (isLast || writing === null)) {
        takenAt = world.length;
        const mine = { position: takenAt, head: log.head, slices: beginFreeze(world) };
        writing = mine;
        if (!isLast) clock.soon(() => write(mine, false));
      }
      if (isLast && writing !== null) write(writing, true);
    },
    settled() {
      writing = null;
      return saving;
    },
  };
}
