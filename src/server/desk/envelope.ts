/**
 * Messages as the doors show them: SOX's envelope. Where many are shown, to many readers, they are
 * made as text, with the body spliced in as it is stored.
 */
import type { MessageSent } from '../../core/talk/message.ts';
import { messageId } from '../../core/talk/message-id.ts';
import type { Published } from '../../hub/feed.ts';
import type { Message, MessageHead, TextMessage } from '../../hub/message-store.ts';

export interface Envelope extends Record<string, unknown> {
  channel: string;
  sender: string;
  body: Record<string, unknown>;
  sent_at: number;
  message_id: string;
  seq: number;
  correlation_id: string | null;
  ts: number;
  reply_to: string | null;
}

export function messageEnvelope(message: Message): Envelope {
  const { at, correlationId, replyTo } = message;
  return {
    channel: message.channel,
    sender: message.by,
    body: message.body,
    sent_at: at / 1000,
    message_id: messageId(message.position),
    seq: message.seq,
    correlation_id: correlationId ?? null,
    // Nanoseconds exceed what a double holds exactly; the stamp is advisory and milliseconds are true.
    ts: at * 1_000_000,
    reply_to: replyTo === undefined ? null : messageId(replyTo),
    ...(message.dropped && { dropped: true }),
  };
}

type Besides = Pick<MessageHead, 'as' | 'actor' | 'trace'>;

/**
 * Whose word it is [I14], and the trace it was said in [TL10]. SOX's envelope has no place for them at
 * its top, so a drain tells them in `_meta`.
 */
export function standingFields({ as, actor, trace }: Besides): {
  standing: string | null;
  actor?: string;
  traceparent?: string;
} {
  return {
    standing: as ?? null,
    ...(actor !== undefined && { actor }),
    ...(trace !== undefined && { traceparent: trace }),
  };
}

/** The same fields as JSON text, without the braces around them. */
export function envelopeFieldsText(message: TextMessage): string {
  return sentFieldsText(message, message.position, '') + (message.dropped ? ',"dropped":true' : '');
}

/** `standingFields` as JSON text, without the braces. */
export function standingFieldsText({ as, actor, trace }: Besides): string {
  const standing = as === undefined ? '"standing":null' : `"standing":"${as}"`;
  const acting = actor === undefined ? standing : `${standing},"actor":${JSON.stringify(actor)}`;
  return trace === undefined ? acting : `${acting},"traceparent":${JSON.stringify(trace)}`;
}

/** As it is pushed: with the position that a stream resumes from and the standing. */
export function messageEnvelopeText({ position, event }: Published): string {
  const fields = sentFieldsText(event, position, `,${standingFieldsText(event)}`);
  return `{${fields},"position":${position}${event.dropped ? ',"dropped":true' : ''}}`;
}

function sentFieldsText(event: MessageSent, position: number, standing: string): string {
  const { at, correlationId, replyTo } = event;
  const correlation = correlationId === undefined ? 'null' : JSON.stringify(correlationId);
  const reply = replyTo === undefined ? 'null' : `"${messageId(replyTo)}"`;
  return (
    `"channel":${JSON.stringify(event.channel)},"sender":${JSON.stringify(event.by)}${standing},"body":${event.body},` +
    `"sent_at":${at / 1000},"message_id":"${messageId(position)}","seq":${event.seq},` +
    `"correlation_id":${correlation},"ts":${at * 1_000_000},"reply_to":${reply}`
  );
}
