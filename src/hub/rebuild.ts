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

export async function rebuildWorld(
  log: Log,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<World> {
  const world = (await thawNewest(log, onTrouble)) ?? createWorld();
  for await (const chunk of log.read(world.length)) {
    for (const entry of chunk.entries) applyEntry(world, entry);
  }
  assert(world.length === log.length, 'the world is as long as its log');
  return world;
}

async function thawNewest(
  log: Log,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<World | null> {
  const snapshot = await log.loadSnapshot((why) => onTrouble('a snapshot was refused', why));
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
