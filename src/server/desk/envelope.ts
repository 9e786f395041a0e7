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
  return shownText(message, message.position) + (message.dropped ? ',"dropped":true' : '');
}

/** `standingFields` as JSON text, without the braces. */
export function standingFieldsText(message: Besides): string {
  return standingText(message.as) + actingText(message);
}

/** As it is pushed: with the position that a stream resumes from and the standing. */
export function messageEnvelopeText({ position, event }: Published): string {
  const fields = pushedText(event, position);
  return `{${fields},"position":${position}${event.dropped ? ',"dropped":true' : ''}}`;
}

function standingText(as: Besides['as']): string {
  return as === undefined ? '"standing":null' : `"standing":"${as}"`;
}

function actingText({ actor, trace }: Besides): string {
  if (actor === undefined && trace === undefined) return '';
  const acting = actor === undefined ? '' : `,"actor":${JSON.stringify(actor)}`;
  return trace === undefined ? acting : `${acting},"traceparent":${JSON.stringify(trace)}`;
}

const shownText = createSentText(false);
const pushedText = createSentText(true);

/**
 * Messages come in runs of one channel, one sender and often one millisecond, so what the last one had is kept. It is
 * joined: what is added up stays a chain of pieces, and for each of many would be walked through.
 */
function createSentText(
  hasStanding: boolean,
): (event: MessageSent | TextMessage, position: number) => string {
  let [channel, by, as] = ['', '', undefined as Besides['as']];
  let front = '';
  let at = Number.NaN;
  let [sentAt, plainEnd] = ['', ''];

  return (event, position) => {
    if (event.channel !== channel || event.by !== by || event.as !== as || front === '') {
      ({ channel, by, as } = event);
      const names = ['"channel":', JSON.stringify(channel), ',"sender":', JSON.stringify(by)];
      front = [...names, hasStanding ? `,${standingText(as)}` : ''].join('');
    }
    if (event.at !== at) {
      ({ at } = event);
      sentAt = [',"sent_at":', at / 1000, ',"message_id":"'].join('');
      plainEnd = endText(at, 'null', 'null');
    }
    const { correlationId, replyTo } = event;
    const end =
      correlationId === undefined && replyTo === undefined
        ? plainEnd
        : endText(
            at,
            correlationId === undefined ? 'null' : JSON.stringify(correlationId),
            replyTo === undefined ? 'null' : `"${messageId(replyTo)}"`,
          );
    const acting = hasStanding ? actingText(event) : '';
    return `${front}${acting},"body":${event.body}${sentAt}${messageId(position)}","seq":${event.seq}${end}`;
  };
}

function endText(at: number, correlation: string, reply: string): string {
  const fields = [',"correlation_id":', correlation, ',"ts":', at * 1_000_000];
  return [...fields, ',"reply_to":', reply].join('');
}
