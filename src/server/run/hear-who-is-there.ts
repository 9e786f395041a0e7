/** What a server listens for before it answers anybody of a space that another has open [SQ29]. */
import type { Hub } from '../../hub/hub.ts';

/** What only the other knows of who is there. */
export async function hearWhoIsThere({ standing, whispers }: Hub): Promise<void> {
  if (standing?.sequencer == null || standing.sequencer === standing.server) return;
  // It says so within one, and what it says is on its way for less than another.
  await whispers?.moment();
  await whispers?.moment();
}
