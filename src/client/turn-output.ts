/**
 * What turns of managed agents say, as they say it: people hear every turn of their space, an agent its own.
 * Lines are pushed, not kept: those of a break are not repeated, and `turns.get` tells the last ones at
 * any time. A reader that falls behind the bound misses lines, never the connection [K15].
 */
import { type LiveStream, openLive } from './live.ts';
import type { MessagesContext } from './messages.ts';
import { createSequence } from './sequence.ts';

export interface TurnOutput {
  readonly turn_id: string;
  readonly agent_id: string;
  readonly lines: readonly {
    /** Unix seconds. */
    readonly at: number;
    readonly from: 'out' | 'err' | 'note';
    readonly text: string;
  }[];
}

export interface TurnOutputOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

/** A stream shows messages too; naming a channel that nobody uses keeps them away. */
const NO_CHANNEL = 'synod-turns-only';

export function openTurnOutput(
  options: TurnOutputOptions,
  context: Omit<MessagesContext, 'commit' | 'commitMode'>,
): LiveStream<TurnOutput> {
  const sequence = createSequence<TurnOutput>();
  const live = openLive<TurnOutput>({
    sequence,
    signal: options.signal,
    openConnection: context.openConnection,
    openTimeoutMs: context.openTimeoutMs,
    onClosed: context.onClosed,
    request: () => ({ from: 'now', turns: true, channels: [NO_CHANNEL] }),
    confirmed() {},
    pushed(method, params, chars) {
      if (method !== 'turn.output' || sequence.size >= context.bufferMax) return;
      sequence.push(params as unknown as TurnOutput, chars);
    },
    beforeNext() {},
    delivered() {},
    leave: async () => {},
  });
  return live.stream;
}
