/**
 * Snapshots bound how long a start takes [H8]. Freezing costs as much as there is, so
 * one is taken each time the log has grown by a quarter, and at least by `every`
 * entries: little for each entry, however long the log.
 */
import { freezeWorld } from '../core/law/snapshot.ts';
import type { World } from '../core/law/state.ts';
import type { Log } from '../log/log.ts';

const EVERY = 100_000;

export interface Snapshots {
  /** To be called while memory and log agree; freezes when it is time, and saves in its own time. */
  offer(world: World, isLast?: boolean): void;
  /** When what was frozen is saved, or was not. */
  settled(): Promise<void>;
}

export function createSnapshots(
  log: Log,
  length: number,
  every: number | undefined,
  onTrouble: (what: string, cause: unknown) => void,
): Snapshots {
  const leastGrowth = every ?? EVERY;
  let takenAt = length;
  let saving: Promise<void> = Promise.resolve();
  return {
    offer(world, isLast = false) {
      const growth = world.length - takenAt;
      if (growth < (isLast ? 1 : Math.max(leastGrowth, world.length / 4))) return;
      takenAt = world.length;
      const snapshot = { position: takenAt, head: log.head, text: freezeWorld(world) };
      // One after the other: an older one must never overwrite a newer.
      saving = saving
        .then(() => log.saveSnapshot(snapshot))
        .catch((cause) =>
          onTrouble('a snapshot was not saved; the next start takes longer', cause),
        );
    },
    settled: () => saving,
  };
}
