/**
 * The trace of a turn: it goes on with that of the first message which has one, under the span that its
 * taker opened. What is said in the turn belongs to it, also where whoever speaks says nothing of it [TL10].
 */

import type { WorldView } from '../law/state.ts';
import { formatTraceparent, parseTraceparent } from '../law/traceparent.ts';
import type { Waking } from './turn-state.ts';

export function turnTrace(messages: readonly Waking[], taker: string | null): string | null {
  const came = parseTraceparent(messages.find(({ trace }) => trace !== undefined)?.trace);
  const own = parseTraceparent(taker);
  if (came === null) return own && formatTraceparent(own);
  return formatTraceparent(own === null ? came : { ...came, spanId: own.spanId });
}

/** Of what is said in this turn; null outside of one, or where nobody began a trace. */
export function traceOf({ turns }: WorldView, turn: string | undefined): string | null {
  return turn === undefined ? null : (turns.turns.get(turn)?.trace ?? null);
}
