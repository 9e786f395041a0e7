/** The look for what may lapse: armed while the world holds anything that can. */
import { SWEEP_EVERY_MS } from './limits.ts';
import type { World } from './state.ts';

export function armSweep(world: World): void {
  if (world.channels.size + world.agents.size + world.claims.inherited.size === 0) return;
  world.deadlines.push({ at: world.at + SWEEP_EVERY_MS, kind: 'sweep', agent: '' });
}
