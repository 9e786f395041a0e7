/**
 * What live feeds showed an agent: one range of positions, in memory only. It may
 * forget what was shown and never claims what was not [R5].
 */

import { assert } from '../law/assert.ts';
import type { World } from '../law/state.ts';

/** Memory only: a live feed showed the agent all it is owed between two positions. */
export interface Presented {
  readonly type: 'inbox.presented';
  readonly at: number;
  readonly by: string;
  readonly from: number;
  readonly to: number;
}

export function evolvePresented(world: World, event: Presented): void {
  // What only memory knows makes nobody known.
  const agent = world.agents.get(event.by);
  if (agent === undefined) return;
  assert(event.from <= event.to, 'what was shown is a range');
  const shown = agent.presented;
  if (shown === null || event.from > shown[1] + 1) agent.presented = [event.from, event.to];
  // Of two ranges apart only the newer is kept: better to forget than to claim what lies between.
  else if (event.to < shown[0] - 1) return;
  else agent.presented = [Math.min(shown[0], event.from), Math.max(shown[1], event.to)];
}

/** A message released from being held was not shown with those around it. */
export function cutPresented(world: World, channel: string, position: number): void {
  for (const { agent } of world.channels.get(channel)?.members.values() ?? []) {
    const shown = agent.presented;
    if (shown === null || position < shown[0] || position > shown[1]) continue;
    agent.presented = position < shown[1] ? [position + 1, shown[1]] : null;
  }
}
