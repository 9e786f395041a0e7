/**
 * Messages as the doors show them: SOX's envelope. Pushed ones are made as text,
 * with the body spliced in as it is stored, because each is written once and sent
 * to many.
 */
import { messageId } from '../../core/talk/message.ts';
import type { Published } from '../../hub/feed.ts';
import type { Message } from '../../hub/message-store.ts';

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

/**
 * Whose word it is [I14]. SOX's envelope has no place for it at its top, so a drain tells it in `_meta`.
 */
export function standingFields({ as, actor }: Message): {
  standing: string | null;
  actor?: string;
} {
  return { standing: as ?? null, ...(actor !== undefined && { actor }) };
}

/** The same as JSON text, with the position that a stream resumes from and the standing. */
export function messageEnvelopeText({ position, event }: Published): string {
  const { at, as, actor, correlationId, replyTo } = event;
  const standing = as === undefined ? 'null' : `"${as}"`;
  const about = actor === undefined ? '' : `,"actor":${JSON.stringify(actor)}`;
  const correlation = correlationId === undefined ? 'null' : JSON.stringify(correlationId);
  const reply = replyTo === undefined ? 'null' : `"${messageId(replyTo)}"`;
  return (
    `{"channel":${JSON.stringify(event.channel)},"sender":${JSON.stringify(event.by)},"standing":${standing}${about},"body":${event.body},` +
    `"sent_at":${at / 1000},"message_id":"${messageId(position)}","seq":${event.seq},` +
    `"correlation_id":${correlation},"ts":${at * 1_000_000},"reply_to":${reply},"position":${position}${event.dropped ? ',"dropped":true' : ''}}`
  );
}
