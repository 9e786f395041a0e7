/**
 * A chat as it is stored, and as the wire shows it. Stored it is `{text}` like what is sent at any
 * other door, so that everybody reads a text [SY12]; fields the wire has beside it stand in the
 * body's `synapse`. Shown, a message of any door is one flat frame.
 */
import { ASIDE } from '../../../wire/body-text.ts';
import { isFields } from '../../../wire/fields.ts';
import { type Frame, numberOf, objectOf, own, textOf } from './frame.ts';
import type { Fields } from './speech.ts';

export const CHAT_CHANNEL = 'synapse/chat';
/** A client's own time is kept when the hub's clock says something else. */
const CLOCK_SKEW_S = 60;

/** Never stored and never passed on: the secret [SY3], and what only the hub may say. */
const DROPPED: ReadonlySet<string> = new Set([
  'token',
  'takeover',
  'idem_key',
  'req_id',
  'sender',
  'hub_id',
  'msg_id',
  'sent_at',
]);
/** What a body says in fields of its own. */
const TOLD: ReadonlySet<string> = new Set(['type', 'target', 'payload', 'timestamp']);

export interface Spoken {
  readonly by: string;
  readonly at: number;
  readonly position: number;
  readonly body: unknown;
}

/** `beside` is what the door adds for a directed chat: whom it means. */
export function chatBody(frame: Frame, nowMs: number, beside: Fields = {}): Fields {
  const timestamp = numberOf(frame, 'timestamp');
  const isOff = timestamp !== undefined && Math.abs(timestamp - nowMs / 1000) > CLOCK_SKEW_S;
  const aside = {
    ...without(frame, (name) => DROPPED.has(name) || TOLD.has(name)),
    ...(isOff && timestamp !== 0 && { timestamp }),
    ...beside,
  };
  const text = payloadOf(frame, '');
  return Object.keys(aside).length === 0 ? { text } : { text, [ASIDE]: aside };
}

/** The chat frame of a message, whoever sent it and through whatever door. */
export function chatFrame(spoken: Spoken, target: string): Fields {
  const { by, at, position, body } = spoken;
  const fields = isFields(body) ? body : {};
  const aside = objectOf(fields, ASIDE) ?? {};
  return {
    ...without(fields, (name) => DROPPED.has(name) || name === ASIDE || name === 'text'),
    ...without(aside, (name) => DROPPED.has(name)),
    sender: by,
    target: textOf(aside, 'target') || textOf(fields, 'target') || target,
    type: 'chat',
    payload: payloadOf(fields, JSON.stringify(body)),
    timestamp: numberOf(aside, 'timestamp') || numberOf(fields, 'timestamp') || at / 1000,
    sent_at: at / 1000,
    msg_id: position + 1,
  };
}

/** Whom a directed chat means, on the first of its copies; null on the others and on what is no chat. */
export function recipientsIn(body: Fields): readonly unknown[] | null {
  const named = own(objectOf(body, ASIDE) ?? {}, 'recipients');
  return Array.isArray(named) ? named : null;
}

function without(fields: Fields, isLeft: (name: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isLeft(name)));
}

/** Text as it is; anything else as JSON; a message of another door by its text, or whole. */
function payloadOf(fields: Frame, otherwise: string): string {
  const payload = own(fields, 'payload') ?? own(fields, 'text');
  if (typeof payload === 'string') return payload;
  return payload === undefined || payload === null ? otherwise : JSON.stringify(payload);
}
