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

/** A message and how deep it stands in its thread. */
export interface Placed {
  readonly said: Said;
  readonly depth: number;
}

/** The first message of the thread that a message belongs to, as far back as it is known. */
export function rootOf(talk: readonly Said[], id: string): string {
  const byId = new Map(talk.map((one) => [one.id, one]));
  const seen = new Set<string>();
  let at = id;
  for (;;) {
    const parent = byId.get(at)?.replyTo;
    if (parent == null || seen.has(parent) || !byId.has(parent)) return at;
    seen.add(at);
    at = parent;
  }
}

/** A thread, answers below what they answer, oldest first. */
export function threadOf(talk: readonly Said[], root: string): Placed[] {
  const answers = new Map<string, Said[]>();
  for (const one of talk) {
    if (one.replyTo === null || one.replyTo === one.id) continue;
    const list = answers.get(one.replyTo);
    if (list === undefined) answers.set(one.replyTo, [one]);
    else list.push(one);
  }
  const placed: Placed[] = [];
  const seen = new Set<string>();
  // A stack and not a recursion: a thread may be as deep as the talk is long.
  const first = talk.find(({ id }) => id === root);
  const stack: Placed[] = first === undefined ? [] : [{ said: first, depth: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (seen.has(next.said.id)) continue;
    seen.add(next.said.id);
    placed.push(next);
    const depth = next.depth + 1;
    const below = answers.get(next.said.id) ?? [];
    for (const said of below.toReversed()) stack.push({ said, depth });
  }
  return placed;
}
