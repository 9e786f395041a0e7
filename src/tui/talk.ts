/**
 * What was said on one channel: messages in the order of their number, each once, however often and
 * in whatever order they arrive [TU3]. Only so many are held, and the oldest give way.
 */
import { plainText } from '../wire/body-text.ts';
import type { MessageEnvelope } from '../wire/schemas.ts';

/** A message as far as the screen needs it. */
export interface Said {
  readonly id: string;
  readonly channel: string;
  readonly seq: number;
  readonly sender: string;
  /** Unix seconds. */
  readonly sentAt: number;
  readonly replyTo: string | null;
  readonly text: string;
}

export const TALK_MESSAGES_MAX = 2_000;
/** Of one message; whoever needs more reads it with `synod replay`. */
const SHOWN_CHARS_MAX = 8_000;

export function saidOf(envelope: MessageEnvelope): Said {
  return {
    id: envelope.message_id,
    channel: envelope.channel,
    seq: envelope.seq,
    sender: envelope.sender,
    sentAt: envelope.sent_at,
    replyTo: envelope.reply_to ?? null,
    text: bodyText(envelope.body),
  };
}

/** What `send TEXT` wrote is text; every other body is shown as what it is. */
function bodyText(body: Readonly<Record<string, unknown>>): string {
  const text = plainText(body) ?? JSON.stringify(body);
  if (text.length <= SHOWN_CHARS_MAX) return text;
  return `${text.slice(0, SHOWN_CHARS_MAX).toWellFormed()}… (${text.length - SHOWN_CHARS_MAX} more characters)`;
}

export function mergeTalk(talk: readonly Said[], arrived: readonly Said[]): readonly Said[] {
  const last = talk.at(-1)?.seq ?? 0;
  const fresh = arrived.filter(({ seq }) => seq > last || !holds(talk, seq));
  if (fresh.length === 0) return talk;
  const known = new Map<number, Said>();
  for (const one of talk) known.set(one.seq, one);
  for (const one of fresh) if (!known.has(one.seq)) known.set(one.seq, one);
  return [...known.values()].sort((a, b) => a.seq - b.seq).slice(-TALK_MESSAGES_MAX);
}

function holds(talk: readonly Said[], seq: number): boolean {
  let low = 0;
  let high = talk.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = talk[middle]?.seq ?? 0;
    if (found === seq) return true;
    if (found < seq) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
