/** Who replied to what: the first reply of each agent, up to a bound [M9]. */
import { REPLIED_MESSAGES_MAX, REPLIERS_PER_MESSAGE_MAX } from '../law/limits.ts';
import { makeRoomWithin } from '../law/make-room.ts';
import type { Reply, World } from '../law/state.ts';
import { onReply } from '../workflows/waits.ts';

export function rememberReply(world: World, parent: number, reply: Reply): void {
  const replies = world.replies.get(parent);
  if (replies !== undefined) {
    if (replies.length >= REPLIERS_PER_MESSAGE_MAX) return;
    if (replies.some((one) => one.agent === reply.agent)) return;
    replies.push(reply);
    return onReply(world, parent, reply);
  }
  world.replies.set(parent, [reply]);
  onReply(world, parent, reply);
  if (world.replies.size <= REPLIED_MESSAGES_MAX) return;
  makeRoomWithin(world.replies, REPLIED_MESSAGES_MAX, repliers, (to, name) => {
    const left = world.replies.get(to)?.filter(({ agent }) => agent !== name) ?? [];
    if (left.length === 0) world.replies.delete(to);
    else world.replies.set(to, left);
  });
}

const repliers = (replies: readonly Reply[]): string[] => replies.map(({ agent }) => agent);
