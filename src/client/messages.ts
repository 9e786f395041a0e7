/**
 * Messages as an async iterator, without loss and without repeat [K3]: after a break
 * the stream goes on behind the last message it has. What the reader has not taken
 * is held up to a bound; beyond it the stream hangs up, and resumes when half is
 * read [K4], so that memory stays bounded and nothing is missed.
 */
import type { MessageEnvelope } from '../wire/schemas.ts';
import { createCommitter } from './committer.ts';
import type { Connection, ConnectionEvents } from './connection.ts';
import { type LiveStream, openLive } from './live.ts';
import { createPlaceKeeper } from './place-keeper.ts';
import { createSequence } from './sequence.ts';

/** A message as a stream shows it, with its place in the log. */
export interface Message extends MessageEnvelope {
  /** To resume after, or to commit through. */
  readonly position: number;
}

export type CommitMode = 'auto' | 'manual';

export interface MessagesOptions {
  /** Names and globs, subscribed to or not. Default: everything you are subscribed to. */
  readonly channels?: readonly string[];
  /**
   * `inbox`: what you are owed first (default without `channels`); `now`: only what is new
   * (default with `channels`); a position: everything after it.
   */
  readonly from?: 'now' | 'inbox' | number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /**
   * `auto`: a message counts as read once the loop asks for the one after it. Only a stream of
   * your whole inbox commits by itself: any other would mark as read what it never showed.
   */
  readonly commit?: CommitMode;
}

export interface MessagesContext {
  readonly openConnection: (events: ConnectionEvents) => Connection;
  readonly commit: (through: number) => Promise<unknown>;
  readonly commitMode: CommitMode;
  readonly bufferMax: number;
  readonly openTimeoutMs: number;
  readonly onClosed: () => void;
}

export const BUFFER_MESSAGES_MAX = 10_000;
const BUFFER_CHARS_MAX = 64 * 1024 * 1024;

export function openMessages(
  options: MessagesOptions,
  context: MessagesContext,
): LiveStream<Message> {
  const { channels, signal } = options;
  const from = options.from ?? (channels === undefined ? 'inbox' : 'now');
  const sequence = createSequence<Message>();
  const place = createPlaceKeeper(typeof from === 'number' ? from : null);
  const doesCommit =
    (options.commit ?? context.commitMode) === 'auto' && from === 'inbox' && channels === undefined;
  const committer = doesCommit
    ? createCommitter(context.commit, (error) => live.fail(error))
    : null;
  let yielded: number | null = null;
  let isPaused = false;

  const live = openLive<Message>({
    sequence,
    signal,
    openConnection: context.openConnection,
    openTimeoutMs: context.openTimeoutMs,
    onClosed: context.onClosed,
    request: () => ({ from: place.last ?? from, ...(channels !== undefined && { channels }) }),
    confirmed(position) {
      // From now on a break must not cost what is sent during it. (An inbox that showed nothing yet is asked for again.)
      if (from === 'now') place.startAt(Math.max(0, position));
    },
    pushed(method, params, chars) {
      if (method !== 'message' || typeof params.position !== 'number') return;
      if (!place.admit(params.position)) return;
      sequence.push(params as unknown as Message, chars);
      if (isPaused || !isFull(1)) return;
      isPaused = true;
      live.line.pause();
    },
    beforeNext() {
      if (yielded !== null) committer?.handled(yielded);
      yielded = null;
    },
    delivered(message) {
      yielded = message.position;
      if (!isPaused || isFull(2)) return;
      isPaused = false;
      live.line.resume();
    },
    leave: async () => committer?.flush(),
  });

  function isFull(divisor: number): boolean {
    return (
      sequence.size >= context.bufferMax / divisor || sequence.chars >= BUFFER_CHARS_MAX / divisor
    );
  }

  return live.stream;
}
