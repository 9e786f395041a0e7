/**
 * What becomes of my messages, as it happens. Changes are pushed, not kept: those of
 * a break are not repeated [K12]; `receiptsOf` tells where a message stands at any
 * time. A reader too slow for the bound is told so instead of missing some quietly.
 */
import type { OutputOf } from '../wire/operation.ts';
import type { receiptsGet } from '../wire/operations/receipts.ts';
import { SynodError } from './error.ts';
import { type LiveStream, openLive } from './live.ts';
import type { MessagesContext } from './messages.ts';
import { createSequence } from './sequence.ts';

type Receipt = OutputOf<typeof receiptsGet>['receipts'][number];

/** One change of one recipient's receipt of one message. */
export interface ReceiptChange extends Receipt {
  readonly message_id: string;
  readonly channel: string;
}

export interface ReceiptsOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

/** A stream shows messages too. Naming a channel that nobody uses keeps them, and being told they were presented, away. */
const NO_CHANNEL = 'synod-receipts-only';

export function openReceipts(
  options: ReceiptsOptions,
  context: Omit<MessagesContext, 'commit' | 'commitMode'>,
): LiveStream<ReceiptChange> {
  const sequence = createSequence<ReceiptChange>();
  const live = openLive<ReceiptChange>({
    sequence,
    signal: options.signal,
    openConnection: context.openConnection,
    openTimeoutMs: context.openTimeoutMs,
    onClosed: context.onClosed,
    request: () => ({ from: 'now', receipts: true, channels: [NO_CHANNEL] }),
    confirmed() {},
    pushed(method, params, chars) {
      if (method !== 'receipt') return;
      sequence.push(params as unknown as ReceiptChange, chars);
      if (sequence.size >= context.bufferMax) live.fail(tooSlow(context.bufferMax));
    },
    beforeNext() {},
    delivered() {},
    leave: async () => {},
  });
  return live.stream;
}

function tooSlow(max: number): SynodError {
  return new SynodError(
    'limit.reached',
    `${max} receipt changes wait to be read; read faster, or ask receiptsOf(message_id) instead`,
    { detail: { limit: 'BUFFER_MESSAGES_MAX' } },
  );
}
