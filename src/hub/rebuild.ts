/**
 * A world out of its log: the newest snapshot that can be used, and the entries
 * after it. A snapshot is only a shortcut [L3]: one that cannot be read, or is of
 * another version, costs time and nothing else. An entry this program cannot read is
 * not passed over [L2]: the log is refused by name, and nothing was written to it.
 */
import { assert } from '../core/law/assert.ts';
import { decodeEvent, EntryError } from '../core/law/entry.ts';
import { thawWorld } from '../core/law/snapshot.ts';
import { createWorld, type World } from '../core/law/state.ts';
import { evolve } from '../core/law/world.ts';
import { type Log, LogError } from '../log/log.ts';

export async function rebuildWorld(
  log: Log,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<World> {
  const world = (await thawNewest(log, onTrouble)) ?? createWorld();
  for await (const chunk of log.read(world.length)) {
    let position = chunk.first;
    try {
      for (const entry of chunk.entries) evolve(world, decodeEvent(entry), position++);
    } catch (cause) {
      if (cause instanceof EntryError) throw unreadable(cause, position);
      throw cause;
    }
  }
  assert(world.length === log.length, 'the world is as long as its log');
  return world;
}

function unreadable(cause: EntryError, position: number): LogError {
  const what = `entry ${position} cannot be read: ${cause.message}; nothing was changed`;
  return cause.problem === 'newer'
    ? new LogError(
        'log.newer',
        `${what}: upgrade synod, or restore a copy from before the newer program ran`,
        { cause },
      )
    : new LogError(
        'log.shape',
        `${what}: use the program that wrote it, or restore a copy or an export from before`,
        { cause },
      );
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
