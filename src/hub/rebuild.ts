/**
 * A world out of its log: the newest snapshot that can be used, and the entries
 * after it. A snapshot is only a shortcut [L3]: one that cannot be read, is of
 * another version, or is not named by the log [H21], costs time and nothing else.
 */
import { assert } from '../core/law/assert.ts';
import { thawWorld } from '../core/law/snapshot.ts';
import { createWorld, type World } from '../core/law/state.ts';
import { type Log, LogError } from '../log/log.ts';
import { findSnapshotName } from '../log/snapshot-name.ts';
import { applyEntry } from './apply-entry.ts';

type OnTrouble = (what: string, cause: unknown) => void;

export interface Rebuilt {
  readonly world: World;
  /** The position behind the entry that names the snapshot it was built on; 0 without one. */
  readonly snapshotEnd: number;
}

/** The world of all that is stored, or of the first `length` entries. */
export async function rebuildWorld(
  log: Log,
  onTrouble: OnTrouble,
  length: number = Number.POSITIVE_INFINITY,
): Promise<World> {
  return (await rebuild(log, onTrouble, length)).world;
}

/** The same, and how much of it a snapshot has spared. */
export async function rebuild(
  log: Log,
  onTrouble: OnTrouble,
  length: number = Number.POSITIVE_INFINITY,
): Promise<Rebuilt> {
  const rebuilt = (await thawNewest(log, onTrouble, length)) ?? {
    world: createWorld(),
    snapshotEnd: 0,
  };
  const { world } = rebuilt;
  for await (const chunk of log.read(world.length, length)) {
    for (const entry of chunk.entries) {
      if (world.length >= length) return rebuilt;
      applyEntry(world, entry);
    }
  }
  const isWhole = length === Number.POSITIVE_INFINITY || world.length === length;
  assert(isWhole, `the log has lost entries: ${length} were stored, ${world.length} are`);
  return rebuilt;
}

/** The newest snapshot of at most so many entries that can be used. */
export async function thawNewest(
  log: Pick<Log, 'loadSnapshot' | 'read'>,
  onTrouble: OnTrouble,
  atMost: number,
): Promise<Rebuilt | null> {
  const onRefused = (why: unknown): void => onTrouble('a snapshot was refused', why);
  let snapshot = await log.loadSnapshot(onRefused, atMost);
  let namedAt = snapshot === null ? null : await findSnapshotName(log, snapshot);
  while (snapshot !== null && namedAt === null) {
    onRefused(unnamed(snapshot.position));
    // What was refused before is not told again.
    snapshot = await log.loadSnapshot(() => {}, snapshot.position - 1);
    namedAt = snapshot === null ? null : await findSnapshotName(log, snapshot);
  }
  if (snapshot === null || namedAt === null) return null;
  try {
    const world = thawWorld(snapshot.text);
    if (world === null) return null;
    assert(world.length === snapshot.position, 'a snapshot is as long as it says');
    return { world, snapshotEnd: namedAt + 1 };
  } catch (cause) {
    onTrouble('a snapshot could not be used; the whole log is read instead', cause);
    return null;
  }
}

function unnamed(position: number): LogError {
  return new LogError(
    'log.snapshot',
    `the log does not name the snapshot of ${position} entries, so it is not believed and the log alone is read: it was taken before snapshots were named, or it is not the hub's; "synod log verify" tells which`,
  );
}
