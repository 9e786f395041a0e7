/**
 * An agent is read one page at a time [SV9], so that what it has in memory is a page or two, however many it asks for at once.
 * Whatever is large and belongs to an answer is read in here, all of it: who held a part while it waits for its turn
 * would hold it as often as it asked.
 */
import type { Room } from './room.ts';

/** Null for one that left while it waited: nothing was read for it. */
export async function onePage<Page>(
  { hub, by, signal }: Pick<Room, 'hub' | 'by' | 'signal'>,
  read: () => Promise<Page>,
): Promise<Page | null> {
  const end = await hub.turns.page(by.id, signal);
  if (end === null) return null;
  try {
    return await read();
  } finally {
    end();
  }
}
