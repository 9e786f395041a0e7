/**
 * A turn as it is handed out: items queued for one reader, up to a bound beyond which the oldest pieces go and
 * are counted, and one end. A turn whose reader has left goes on; its items are let go.
 */
import { ItemQueue } from '../../../bus/sdk/item-queue.ts';
import type { AgentTurn } from './agent-client.ts';
import type { AgentItem, AgentTurnEnd, AgentUsage } from './agent-item.ts';

export const ITEMS_MAX = 10_000;

export interface TurnStream {
  readonly turn: AgentTurn;
  readonly isOver: boolean;
  /** Aborted at the end, or when it is interrupted: nobody waits for an approval any more. */
  readonly signal: AbortSignal;
  push(item: AgentItem): void;
  /** What it said; the last of it is the text of the end. */
  said(text: string): void;
  used(usage: AgentUsage): void;
  readonly usage: AgentUsage;
  end(state: AgentTurnEnd['state'], error?: string | null): void;
}

export interface TurnHands {
  steer(text: string): Promise<'now' | 'after'>;
  /** Asks for the end; the end itself comes by `end`. */
  interrupt(): Promise<void>;
}

const NOTHING: AgentUsage = { tokensIn: 0, tokensOut: 0 };

export function createTurnStream(hands: TurnHands): TurnStream {
  const queue = new ItemQueue<AgentItem>();
  const over = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<AgentTurnEnd>();
  let leftOut = 0;
  let text = '';
  let usage = NOTHING;
  let isOver = false;

  function push(item: AgentItem): void {
    if (isOver) return;
    if (queue.size >= ITEMS_MAX) {
      leftOut += 1;
      return;
    }
    if (leftOut > 0) queue.push({ type: 'left_out', count: leftOut });
    leftOut = 0;
    queue.push(item);
  }

  const turn: AgentTurn = {
    ended,
    [Symbol.asyncIterator]: () => queue,
    steer: (words) => hands.steer(words),
    async interrupt() {
      // It may wait for a person, and would not hear of it before that.
      over.abort();
      if (!isOver) await hands.interrupt();
      await ended;
    },
  };

  return {
    turn,
    push,
    signal: over.signal,
    get isOver() {
      return isOver;
    },
    get usage() {
      return usage;
    },
    said(words) {
      text = words;
      push({ type: 'text', text: words });
    },
    used(now) {
      usage = now;
      push({ type: 'usage', usage: now });
    },
    end(state, error = null) {
      if (isOver) return;
      if (leftOut > 0) queue.push({ type: 'left_out', count: leftOut });
      isOver = true;
      over.abort();
      queue.end();
      resolve({ state, text, error, usage });
    },
  };
}
