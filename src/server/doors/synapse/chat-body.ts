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

const NOT_ASIDE: ReadonlySet<string> = new Set([...DROPPED, ...TOLD]);
const NOT_SHOWN: ReadonlySet<string> = new Set([...DROPPED, ASIDE, 'text']);
const NONE: ReadonlySet<string> = new Set();

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
  const aside: Record<string, unknown> = {};
  copy(aside, frame, NOT_ASIDE);
  if (isOff && timestamp !== 0) aside.timestamp = timestamp;
  copy(aside, beside, NONE);
  const text = payloadOf(frame, '');
  return isEmpty(aside) ? { text } : { text, [ASIDE]: aside };
}

/** The chat frame of a message, whoever sent it and through whatever door. */
export function chatFrame(spoken: Spoken, target: string): Fields {
  const { by, at, position, body } = spoken;
  const fields = isFields(body) ? body : {};
  const aside = objectOf(fields, ASIDE) ?? {};
  const frame: Record<string, unknown> = {};
  copy(frame, fields, NOT_SHOWN);
  copy(frame, aside, DROPPED);
  frame.sender = by;
  frame.target = textOf(aside, 'target') || textOf(fields, 'target') || target;
  frame.type = 'chat';
  frame.payload = payloadOf(fields, body);
  frame.timestamp = numberOf(aside, 'timestamp') || numberOf(fields, 'timestamp') || at / 1000;
  frame.sent_at = at / 1000;
  frame.msg_id = position + 1;
  return frame;
}

/** Whom a directed chat means, on the first of its copies; null on the others and on what is no chat. */
export function recipientsIn(body: Fields): readonly unknown[] | null {
  const named = own(objectOf(body, ASIDE) ?? {}, 'recipients');
  return Array.isArray(named) ? named : null;
}

/** A loop, because every chat passes here twice; a field of any name stays a field. */
function copy(to: Record<string, unknown>, from: Fields, left: ReadonlySet<string>): void {
  for (const name of Object.keys(from)) {
    if (left.has(name)) continue;
    const value = from[name];
    if (name !== '__proto__') to[name] = value;
    else Object.defineProperty(to, name, { value, ...PLAIN });
  }
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Text as it is; anything else as JSON; a message of another door by its text, or whole. */
function payloadOf(fields: Frame, otherwise: unknown): string {
  const payload = own(fields, 'payload') ?? own(fields, 'text');
  if (typeof payload === 'string') return payload;
  if (payload !== undefined && payload !== null) return JSON.stringify(payload);
  return typeof otherwise === 'string' ? otherwise : JSON.stringify(otherwise);
}
