/** Who replied to what: when each agent did first, up to a bound [M9]. */
import { REPLIERS_PER_MESSAGE_MAX, REPLIES_REMEMBERED_MAX } from '../law/limits.ts';
import type { World } from '../law/state.ts';

export function rememberReply(world: World, parent: number, agent: string, at: number): void {
  const repliers = world.replies.get(parent);
  if (repliers?.has(agent) || (repliers?.size ?? 0) >= REPLIERS_PER_MESSAGE_MAX) return;
  world.replies.set(parent, agent, at);
  world.replies.makeRoom(REPLIES_REMEMBERED_MAX);
}
