/**
 * Events as log entries: JSON text, one entry an event. A message's body is
 * spliced in as the text it came with, so it is encoded once in its life.
 *
 * Reading lifts yesterday's shapes into today's (lift.ts) and holds the outcome to the shape of its
 * kind (shape.ts). What this program does not know is refused, because skipping it, or guessing,
 * would make a different world.
 */

import type { MessageSent } from '../talk/message.ts';
import { readJson } from './json.ts';
import { lift, type StoredEvent } from './lift.ts';
import { STANDINGS_BY_NAME } from './principal.ts';
import { findFlaw } from './shape.ts';
import type { DurableEvent } from './world.ts';

export function encodeEvent(event: DurableEvent): string {
  if (event.type !== 'message.sent') return JSON.stringify(event);
  if (isPlain(event)) return encodePlain(event);
  // A field that is undefined is not written; taking it out instead would cost as much again.
  const head = JSON.stringify({ ...event, body: undefined });
  return `${head.slice(0, -1)}${BODY_MARK}${event.body}}`;
}

export type PlainMessage = MessageSent & Required<Pick<MessageSent, 'as'>>;

/** What every message has, and its standing. */
const PLAIN_FIELDS = 7;

function isPlain(event: MessageSent): event is PlainMessage {
  if (event.as === undefined) return false;
  let fields = 0;
  for (const _ in event) fields++;
  return fields === PLAIN_FIELDS;
}

/** As `JSON.stringify` would: most messages are such. */
function encodePlain(event: PlainMessage): string {
  return `${headText(event)}${event.seq}${BODY_MARK}${event.body}}`;
}

type Head = Pick<PlainMessage, 'at' | 'by' | 'as' | 'channel'>;

let lastHead: Head = { at: Number.NaN, by: '', as: 'agent/standard', channel: '' };
let lastHeadText = '';

/** All before the number. Of many in one millisecond most are of one sender on one channel: what the last one had is kept. */
function headText({ at, by, as, channel }: Head): string {
  const { at: lastAt, by: lastBy, as: lastAs, channel: lastChannel } = lastHead;
  if (at === lastAt && by === lastBy && channel === lastChannel && as === lastAs) {
    return lastHeadText;
  }
  lastHead = { at, by, as, channel };
  // Joined: what is added up stays a chain of pieces, and each of many would be walked through.
  const names = [JSON.stringify(by), ',"as":"', as, '","channel":', JSON.stringify(channel)];
  lastHeadText = ['{"type":"message.sent","at":', at, ',"by":', ...names, ',"seq":'].join('');
  return lastHeadText;
}

/**
 * What `encodeEvent` makes of an event that was read from this entry; of an event that is no message, something that
 * is none. Where the entry is written so already, nothing is made.
 */
export function encodeRead(event: DurableEvent, entry: string): string {
  if (event.type !== 'message.sent')
    return entry.startsWith(MESSAGE_START) ? encodeEvent(event) : entry;
  const tail = `${BODY_MARK}${event.body}}`;
  const isOwn = entry.endsWith(tail) && entry.indexOf(BODY_MARK) === entry.length - tail.length;
  return isOwn && entry.startsWith(MESSAGE_START) ? entry : encodeEvent(event);
}

/**
 * A message that is written as `encodePlain` writes it, with its body as text: most are, and whoever follows a log reads them
 * all. Null for anything else, which is for `decodeEvent`.
 */
export function decodePlain(entry: string): PlainMessage | null {
  const head = PLAIN_HEAD.exec(entry);
  if (head === null || !entry.endsWith('}')) return null;
  const body = entry.slice((head[0] as string).length, -1);
  const standing = STANDINGS_BY_NAME.get(head[3] as string);
  if (standing === undefined || !isOwnText(body)) return null;
  return {
    type: 'message.sent',
    at: Number(head[1]),
    by: head[2] as string,
    as: standing,
    channel: head[4] as string,
    seq: Number(head[5]),
    body,
  };
}

// Within the quotes stands whatever JSON writes as it is.
const PLAIN_HEAD: RegExp =
  /^\{"type":"message\.sent","at":(0|[1-9]\d{0,14}),"by":"([ !#-[\]-\uffff]*)","as":"([a-z/]*)","channel":"([ !#-[\]-\uffff]*)","seq":([1-9]\d{0,14}),"body":/;
/** An object of plain words and whole numbers: nothing in it could be written in another way. */
const FLAT_BODY: RegExp =
  /^\{(?:"[A-Za-z_]\w*":(?:"[ !#-[\]-\uffff]*"|0|-?[1-9]\d{0,14}|true|false|null)(?:,(?=")|(?=\})))*\}$/;

/** JSON as this program writes it. */
function isOwnText(text: string): boolean {
  if (FLAT_BODY.test(text)) return true;
  try {
    return JSON.stringify(readJson(text)) === text;
  } catch {
    return false;
  }
}

/** The event without its body: all that `evolve` needs. Throws EntryError for what it cannot read [L2]. */
export function decodeEvent(entry: string): DurableEvent {
  return read(entry) as unknown as DurableEvent;
}

/** A stored message with its parsed body, or null when the entry is something else. */
export function decodeMessage(entry: string): StoredMessage | null {
  if (!entry.startsWith(MESSAGE_START)) return null;
  return read(entry) as unknown as StoredMessage;
}

/**
 * A message with its body as text, or null when the entry is something else. Only for what
 * `encodeEvent` made: there the body comes last, and all before it is flat.
 */
export function decodeOwnMessage(entry: string): MessageSent | null {
  if (!entry.startsWith(MESSAGE_START)) return null;
  const at = entry.indexOf(BODY_MARK);
  const event = read(`${entry.slice(0, at)}}`);
  event.body = entry.slice(at + BODY_MARK.length, -1);
  return event as unknown as MessageSent;
}

const MESSAGE_START = '{"type":"message.sent"';
/** Within a string of JSON its quotes would be escaped. */
const BODY_MARK = ',"body":';

export type StoredMessage = Omit<MessageSent, 'body'> & { readonly body: Record<string, unknown> };

/** An entry that this program must not guess at; who reads the log knows where it lies. */
export class EntryError extends Error {
  /** `newer`: of a kind that is not known here. `shape`: of a kind that is, with other fields. */
  readonly problem: 'newer' | 'shape';
  constructor(message: string, how: { problem: 'newer' | 'shape'; cause?: unknown }) {
    super(message, { cause: how.cause });
    this.name = 'EntryError';
    this.problem = how.problem;
  }
}

function read(entry: string): StoredEvent {
  const event = lift(parse(entry));
  const flaw = findFlaw(event);
  if (flaw === null) return event;
  const kind = String(event.type).slice(0, KIND_CHARS_MAX);
  throw flaw === undefined
    ? new EntryError(`${kind} is an event of a newer program`, { problem: 'newer' })
    : new EntryError(`${kind} without a ${flaw} this program can read`, { problem: 'shape' });
}

function parse(entry: string): StoredEvent {
  let event: unknown;
  try {
    event = readJson(entry);
  } catch (cause) {
    throw new EntryError('it is not JSON', { problem: 'shape', cause });
  }
  if (typeof event === 'object' && event !== null && 'type' in event) return event as StoredEvent;
  throw new EntryError('it is no event', { problem: 'shape' });
}

/** How much of a kind nobody knows is repeated to a reader. */
const KIND_CHARS_MAX = 64;
