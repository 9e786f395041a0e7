/** Who replied to what: the first reply of each agent, up to a bound [M9]. */
import { REPLIERS_PER_MESSAGE_MAX, REPLIES_REMEMBERED_MAX } from '../law/limits.ts';
import type { Reply, World } from '../law/state.ts';
import { onReply } from '../workflows/waits.ts';

export function rememberReply(world: World, parent: number, agent: string, reply: Reply): void {
  const repliers = world.replies.get(parent);
  if (repliers?.has(agent) || (repliers?.size ?? 0) >= REPLIERS_PER_MESSAGE_MAX) return;
  world.replies.set(parent, agent, reply);
  onReply(world, parent, agent, reply);
  world.replies.makeRoom(REPLIES_REMEMBERED_MAX);
}
