/**
 * Snapshots bound how long a start takes [H8]. Freezing costs as much as there is, so
 * one is taken each time the log has grown by a quarter, and at least by `every`
 * entries: little for each entry, however long the log.
 *
 * The state is copied at once and written out in slices, with everybody else's work
 * between them, so that nobody waits for a snapshot [H20]. The log names a snapshot before it is
 * saved: one that lies there without a name is not ours [H21].
 */
import { beginFreeze } from '../core/law/snapshot.ts';
import type { World } from '../core/law/state.ts';
import { type Log, LogError, type Snapshot } from '../log/log.ts';
import { digestSnapshot, type SnapshotName } from '../log/snapshot-name.ts';
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

export interface SnapshotsOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Entries from here on are in no snapshot. */
  readonly from: number;
  readonly every: number | undefined;
  /** Puts the name on the record; false when that was refused. */
  readonly name: (name: SnapshotName) => Promise<boolean>;
  readonly onTrouble: (what: string, cause: unknown) => void;
}

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { log, clock } = options;
  const leastGrowth = options.every ?? EVERY;
  let takenAt = options.from;
  let writing: Writing | null = null;
  let saving: Promise<void> = Promise.resolve();

  const breathe = (): Promise<void> => new Promise((resolve) => clock.soon(resolve));

  async function save(snapshot: Snapshot): Promise<void> {
    const digest = await digestSnapshot(snapshot, breathe);
    if (!(await options.name({ position: snapshot.position, digest }))) {
      throw new LogError('log.unavailable', 'the log did not take the name of the snapshot');
    }
    // The name is no growth: a log in which nothing else happened needs no other snapshot.
    takenAt++;
    await log.saveSnapshot(snapshot);
  }

  function failed(cause: unknown): void {
    options.onTrouble('a snapshot was not saved; the next start takes longer', cause);
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
      saving = saving.then(() => save(snapshot)).catch(failed);
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
