/** Marks of threads as they are made, for streams and for who waits for mail: each sees what it follows and may read. */
import { createMatcher } from '../../core/law/glob.ts';
import type { Principal } from '../../core/law/principal.ts';
import { channelWith, checkRead } from '../../core/talk/channel.ts';
import { messageId } from '../../core/talk/message-id.ts';
import { isShown, openFrom } from '../../core/threads/thread-page.ts';
import type { Hub } from '../../hub/hub.ts';
import { markView } from './handlers/threads.ts';

export interface MarkNotice extends ReturnType<typeof markView> {
  readonly thread_id: string;
  readonly channel: string;
}

/** On the named channels, else those that it is subscribed to, to whom their root may be shown [TM13]. */
export function followMarks(
  hub: Hub,
  by: Principal,
  channels: readonly string[] | null,
  tell: (notices: readonly MarkNotice[]) => void,
): () => void {
  const matchers = channels?.map(createMatcher) ?? null;
  return hub.watch.events((world, _first, events) => {
    let told: MarkNotice[] | null = null;
    for (const event of events) {
      if (event.type !== 'thread.marked') continue;
      const channel = channelWith(world, event);
      if (channel === undefined || checkRead(world, by, channel.name) !== null) continue;
      const isFollowed =
        matchers?.some((matches) => matches(channel.name)) ?? channel.members.has(by.id);
      if (!isFollowed || !isShown(channel, event.seq, openFrom(world, by, channel))) continue;
      told ??= [];
      const thread_id = messageId(event.position);
      told.push({ thread_id, channel: channel.name, ...markView(event) });
    }
    if (told !== null) tell(told);
  });
}
