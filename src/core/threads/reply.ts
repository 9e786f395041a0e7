/**
 * Replies and threads: a reply is said where its parent was and belongs to the thread of its root
 * [TM6]; said elsewhere it is a quotation, which links to its parent and belongs to no thread. A
 * closed thread takes no reply but one that opens it again, by somebody who may [TM7].
 */
import { type Asked, type Refusal, refuse } from '../law/decider.ts';
import type { Channel, ChannelView, WorldView } from '../law/state.ts';
import { checkWriter } from '../law/writer.ts';
import { messageId } from '../talk/message-id.ts';
import { checkMarker, markEvent, type RootRef, type ThreadMarked, told } from './mark.ts';
import { ThreadIndex } from './thread-index.ts';

/** The seq of a message of a channel; 0 when it lies elsewhere. */
export function seqOn(channel: ChannelView | undefined, position: number): number {
  const seq = channel?.positions.lastAtOrBefore(position) ?? 0;
  return channel !== undefined && seq > 0 && channel.positions.at(seq) === position ? seq : 0;
}

/** The seq of the thread's root; of a message without replies its own. */
export function rootSeq(channel: ChannelView, seq: number): number {
  return channel.threads?.rootOf(seq) ?? seq;
}

export interface Replying extends Asked {
  readonly channel: string;
  readonly replyTo: number | null;
  readonly isQuote?: boolean | undefined;
  /** The root of the thread, where the reply is to open it again if it is closed. */
  readonly reopens?: RootRef | null | undefined;
}

export interface Joined {
  /** The position of the thread's root; null for what is no reply. */
  readonly root: number | null;
  /** The mark that opens the thread again. */
  readonly opened: ThreadMarked | null;
}

const APART: Joined = { root: null, opened: null };

/** For decide: the thread that what is sent belongs to. */
export function joinThread(
  world: WorldView,
  channel: ChannelView | undefined,
  command: Replying,
): Joined | Refusal {
  const { replyTo, isQuote, reopens, by } = command;
  if (replyTo === null || isQuote) return APART;
  const parent = seqOn(channel, replyTo);
  if (channel === undefined || parent === 0) {
    const message = `${messageId(replyTo)} was not said on ${command.channel}: reply where it was, or send with quote to link to it from here`;
    return refuse('reply.elsewhere', message, {
      violations: [{ field: 'reply_to', issue: 'lies on another channel' }],
    });
  }
  const seq = rootSeq(channel, parent);
  const root = channel.positions.at(seq);
  const marks = channel.threads?.marksOf(seq);
  if (marks === undefined || !marks.isClosed) return { root, opened: null };
  const thread = messageId(root);
  if (reopens == null || reopens.position !== root) {
    const message = `the thread ${thread} is closed; reply with reopen, or begin another`;
    return refuse('thread.closed', message, { thread, ...told(marks) });
  }
  const forbidden = checkWriter(by, world.settings) ?? checkMarker(world, by, reopens);
  return forbidden ?? { root, opened: markEvent(world, command, reopens, 'reopen', null) };
}

/** For evolve, when the message has its place on the channel. */
export function enterThread(
  channel: Channel,
  seq: number,
  event: { readonly replyTo?: number; readonly quote?: true; readonly post?: true },
): void {
  const isReply = event.replyTo !== undefined && event.quote === undefined;
  // What was said before there were threads replied from anywhere: that is a quotation today [L6].
  const parent = isReply ? seqOn(channel, event.replyTo as number) : 0;
  const isMember = parent > 0 && parent < seq;
  if (!isMember && event.post === undefined) return;
  channel.threads ??= new ThreadIndex();
  if (isMember) channel.threads.addReply(seq, parent);
  else channel.threads.addPost(seq);
}
