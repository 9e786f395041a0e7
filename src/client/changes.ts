/**
 * What may look different now, as it happens: nouns (`claims`, `docket` …) and never what they hold, so that
 * whoever shows them asks again. For people and administrators. Nothing is repeated after a break;
 * instead each opening says `all`, and whoever asks again then has missed nothing [K14].
 */
import { type LiveStream, openLive } from './live.ts';
import type { MessagesContext } from './messages.ts';
import { createSequence } from './sequence.ts';

export interface Change {
  readonly nouns: readonly string[] | 'all';
  /** The newest position then. */
  readonly position: number;
}

export interface ChangesOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

/** A stream shows messages too; naming a channel that nobody uses keeps them away. */
const NO_CHANNEL = 'synod-changes-only';

export function openChanges(
  options: ChangesOptions,
  context: Omit<MessagesContext, 'commit' | 'commitMode'>,
): LiveStream<Change> {
  const sequence = createSequence<Change>();
  const live = openLive<Change>({
    sequence,
    signal: options.signal,
    openConnection: context.openConnection,
    openTimeoutMs: context.openTimeoutMs,
    onClosed: context.onClosed,
    request: () => ({ from: 'now', changes: true, channels: [NO_CHANNEL] }),
    confirmed(position) {
      if (sequence.size < context.bufferMax) sequence.push({ nouns: 'all', position }, 0);
    },
    pushed(method, params, chars) {
      if (method !== 'changed' || !Array.isArray(params.nouns)) return;
      const room = context.bufferMax - sequence.size;
      // A reader that fell behind is told `all` in the end, and what it asks then is as it is then.
      if (room > 1) sequence.push(params as unknown as Change, chars);
      else if (room === 1) sequence.push({ nouns: 'all', position: Number(params.position) }, 0);
    },
    beforeNext() {},
    delivered() {},
    leave: async () => {},
  });
  return live.stream;
}
