/**
 * The end of a channel's history, though the hub only reads forward from a number. A short channel is
 * one question; of a long one the end is searched for by halving, so that the questions grow with
 * its logarithm and no page is read that will not be shown.
 */
import type { MessageEnvelope } from '../wire/schemas.ts';
import type { Methods } from './methods.ts';

export interface History {
  readonly messages: readonly MessageEnvelope[];
  /** Whether nothing lies before them. */
  readonly isWhole: boolean;
}

/** What reading needs of the client. */
export type Replay = Methods['replay'];

export const PAGE_MESSAGES = 200;
const REPLAY_MESSAGES_MAX = 1_000;

/** The newest messages of a channel. */
export async function readTail(replay: Replay, channel: string): Promise<History> {
  const first = await replay(channel, { since: 1, limit: PAGE_MESSAGES });
  if (!first.has_more) return { messages: first.messages, isWhole: true };
  const head = await findHead(replay, channel, first.messages.at(-1)?.seq ?? 1);
  return readBefore(replay, channel, head + 1);
}

/** A page of the messages before a number. */
export async function readBefore(
  replay: Replay,
  channel: string,
  before: number,
): Promise<History> {
  const since = Math.max(1, before - PAGE_MESSAGES);
  if (before <= 1) return { messages: [], isWhole: true };
  const page = await replay(channel, { since, limit: PAGE_MESSAGES, until: before - 1 });
  return { messages: page.messages, isWhole: since === 1 };
}

/** Everything after a number, a page at a time. */
export async function* readAfter(
  replay: Replay,
  channel: string,
  after: number,
): AsyncGenerator<MessageEnvelope[], void> {
  let since = after + 1;
  for (;;) {
    const page = await replay(channel, { since, limit: REPLAY_MESSAGES_MAX });
    const last = page.messages.at(-1);
    yield page.messages;
    if (!page.has_more || last === undefined) return;
    since = last.seq + 1;
  }
}

/** The highest number that can be read; `known` is one that can. */
async function findHead(replay: Replay, channel: string, known: number): Promise<number> {
  const firstFrom = async (since: number): Promise<number | null> => {
    const { messages } = await replay(channel, { since, limit: 1 });
    return messages[0]?.seq ?? null;
  };
  let low = known;
  let high = known;
  for (;;) {
    high *= 2;
    const found = await firstFrom(high);
    if (found === null) break;
    low = Math.max(found, high);
    high = low;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await firstFrom(middle);
    if (found === null) high = middle;
    else low = Math.max(found, middle);
  }
  return low;
}
