/**
 * A world out of its log: the newest snapshot that can be used, and the entries
 * after it. A snapshot is only a shortcut [L3]: one that cannot be read, or is of
 * another version, costs time and nothing else.
 */
import { assert } from '../core/law/assert.ts';
import { decodeEvent } from '../core/law/entry.ts';
import { thawWorld } from '../core/law/snapshot.ts';
import { createWorld, type World } from '../core/law/state.ts';
import { evolve } from '../core/law/world.ts';
import type { Log } from '../log/log.ts';

export async function rebuildWorld(
  log: Log,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<World> {
  const world = (await thawNewest(log, onTrouble)) ?? createWorld();
  for await (const chunk of log.read(world.length)) {
    let position = chunk.first;
    for (const entry of chunk.entries) evolve(world, decodeEvent(entry), position++);
  }
  assert(world.length === log.length, 'the world is as long as its log');
  return world;
}

async function thawNewest(
  log: Log,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<World | null> {
  const snapshot = await log.loadSnapshot();
  if (snapshot === null) return null;
  try {
    const world = thawWorld(snapshot.text);
    return world?.length === snapshot.position ? world : null;
  } catch (cause) {
    onTrouble('a snapshot could not be used; the whole log is read instead', cause);
    return null;
  }
}
