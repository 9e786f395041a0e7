/**
 * A world out of its log: the newest snapshot that can be used, and the entries
 * after it. A snapshot is only a shortcut [L3]: one that cannot be read, or is of
 * another version, costs time and nothing else.
 */
import { assert } from '../core/law/assert.ts';
import { thawWorld } from '../core/law/snapshot.ts';
import { createWorld, type World } from '../core/law/state.ts';
import type { Log } from '../log/log.ts';
import { applyEntry } from './apply-entry.ts';

type OnTrouble = (what: string, cause: unknown) => void;

/** The world of all that is stored, or of the first `length` entries. */
export async function rebuildWorld(
  log: Log,
  onTrouble: OnTrouble,
  length: number = Number.POSITIVE_INFINITY,
): Promise<World> {
  const world = (await thawNewest(log, onTrouble, length)) ?? createWorld();
  for await (const chunk of log.read(world.length)) {
    for (const entry of chunk.entries) {
      if (world.length >= length) return world;
      applyEntry(world, entry);
    }
  }
  const isWhole = length === Number.POSITIVE_INFINITY || world.length === length;
  assert(isWhole, `the log has lost entries: ${length} were stored, ${world.length} are`);
  return world;
}

async function thawNewest(log: Log, onTrouble: OnTrouble, atMost: number): Promise<World | null> {
  const onRefused = (why: unknown): void => onTrouble('a snapshot was refused', why);
  const snapshot = await log.loadSnapshot(onRefused, atMost);
  if (snapshot === null) return null;
  try {
    const world = thawWorld(snapshot.text);
    if (world === null) return null;
    assert(world.length === snapshot.position, 'a snapshot is as long as it says');
    return world;
  } catch (cause) {
    onTrouble('a snapshot could not be used; the whole log is read instead', cause);
    return null;
  }
}
