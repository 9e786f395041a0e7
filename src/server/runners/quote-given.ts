/** The messages a turn was given, quoted as data, with room for whole bodies: a turn gets twenty at most. */
import type { Standing } from '../../core/law/principal.ts';
import {
  type Quotation,
  type QuoteBounds,
  type QuotedMessage,
  quoteMessages,
} from '../../wire/quoted.ts';
import type { GivenMessage } from './runner.ts';

const BOUNDS: QuoteBounds = { chars: 120_000, messages: 20, bodyChars: 16_000, bodyLines: 1_000 };

export function quoteGiven(
  messages: readonly GivenMessage[],
  nowMs: number,
): Quotation<QuotedMessage> {
  const quoted = messages.map((message) => ({
    id: message.message_id,
    channel: message.channel,
    sender: message.sender,
    standing: `${message.kind}/${message.trust}` as Standing,
    actor: null,
    sentAtMs: message.sent_at * 1_000,
    body: message.body,
    replyTo: message.reply_to,
  }));
  return quoteMessages(quoted, nowMs, BOUNDS);
}
