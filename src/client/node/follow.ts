/**
 * Messages as they come, over the hub's event stream, without taking them from any inbox. A stream
 * that breaks is taken up again behind the last message, so nothing is missed and nothing repeated;
 * what the hub refuses ends it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ErrorEnvelope } from '../../wire/errors.ts';
import { readJson } from '../../wire/json.ts';
import { envelopeError, SynodError } from '../error.ts';
import type { Message } from '../messages.ts';
import type { ReceiptChange } from '../receipts.ts';
import { answerOfAll, reach } from './call.ts';
import { readEvents } from './event-stream.ts';
import type { Target } from './target.ts';

export interface FollowOptions {
  /** `now`, `inbox` (what is owed comes first), or behind a position. */
  readonly from: string;
  /** Names and globs; none: what the agent is subscribed to. */
  readonly channels?: readonly string[];
  /** Also what becomes of one's own messages. */
  readonly withReceipts?: boolean;
  /** Ends it, without an error. */
  readonly signal?: AbortSignal;
  onOpen?(isAgain: boolean): void;
  onLost?(): void;
}

export type Followed = { readonly message: Message } | { readonly receipt: ReceiptChange };

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;

/** How the hub refuses a token it has revoked; a stream only says that it ended so. */
const REVOKED: ErrorEnvelope = {
  error_code: 'identity_failure',
  message: 'the token was revoked',
  detail: { reason: 'access.unknown' },
};

/** `locate` is asked before each attempt, because a restarted hub may listen elsewhere. */
export async function* follow(
  locate: () => Target,
  options: FollowOptions,
): AsyncGenerator<Followed, void> {
  const { channels = [], signal } = options;
  let { from } = options;
  let wasOpen = false;
  let isOpen = false;
  for (let retryMs = RETRY_MS_MIN; ; retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)) {
    try {
      yield* followOnce();
    } catch (error) {
      if (signal?.aborted) return;
      if (!wasOpen || !isGone(error)) throw error;
    }
    if (isOpen) {
      isOpen = false;
      retryMs = RETRY_MS_MIN;
      options.onLost?.();
    }
    await pause(retryMs, null, { ...(signal && { signal }) }).catch(() => {});
    if (signal?.aborted) return;
  }

  async function* followOnce(): AsyncGenerator<Followed, void> {
    const target = locate();
    const query = new URLSearchParams({ from });
    for (const channel of channels) query.append('channel', channel);
    if (options.withReceipts) query.set('receipts', '1');
    const response = await reach(target, {
      method: 'GET',
      path: `/v1/stream?${query}`,
      headers: { accept: 'text/event-stream' },
      ...(signal && { signal }),
    });
    if (response.statusCode !== 200) await answerOfAll(target, response);
    options.onOpen?.(wasOpen);
    wasOpen = true;
    isOpen = true;
    try {
      for await (const { event, data, id } of readEvents(response)) {
        const [, start] = (event === ':' && /^synod, from (\d+)$/.exec(data)) || [];
        // From now on means from here on, also when the connection breaks before the first message.
        if (from === 'now' && start !== undefined) from = start;
        if (event === 'end' && (readJson(data) as { reason?: unknown }).reason === 'revoked') {
          throw envelopeError(REVOKED, null, REVOKED.message);
        }
        if (event === 'message') {
          yield { message: readJson(data) as Message };
          if (id !== null) from = id;
        }
        if (event === 'receipt') yield { receipt: readJson(data) as ReceiptChange };
      }
    } catch (cause) {
      if (cause instanceof SynodError) throw cause;
      throw broken(cause);
    } finally {
      response.destroy();
    }
  }
}

function broken(cause: unknown): SynodError {
  return new SynodError('hub.unreachable', 'the connection broke', { cause });
}

function isGone(error: unknown): boolean {
  return error instanceof SynodError && error.code === 'hub.unreachable';
}
