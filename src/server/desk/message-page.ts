/**
 * Messages for a page: read from the log some at a time with whoever else asks in between, so that a page
 * costs what it shows however long bodies are, and written as text that fits its bytes. Of a page of large
 * bodies the rest is for the next; where a page is small a body that is too long for it is left out, and
 * the message says so.
 */
import { utf8Bytes } from '../../core/law/text.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TextMessage } from '../../hub/message-store.ts';
import { envelopeFieldsText, standingFieldsText } from './envelope.ts';
import { onePage } from './one-page.ts';
import type { Room } from './room.ts';

/** What one page of messages is at the most, in bytes of JSON. */
export const MESSAGE_PAGE_BYTES_MAX: number = 1024 * 1024;
/** What an answer with whole bodies is at the most; one message is always given. */
export const ANSWER_BYTES_MAX: number = 16 * 1024 * 1024;
/** A longer body is not part of a page. */
const PAGED_BODY_CHARS_MAX = 128 * 1024;
/** What one call reads of the log, in characters; a page ends early before it reads more. */
const READ_CHARS_MAX = 8 * 1024 * 1024;
/** How long bodies are is known when they are read: a piece is as small as those before it were large. */
const PIECE_FIRST = 8;
const PIECE_MAX = 24;
/** What a message costs beside its characters: a few microseconds, most of them from memory. */
const MESSAGE_COST = 128;
const PIECE_CHARS_WANTED: number = 256 * 1024;

/** Where messages are read, and who waits for its turn there. */
export interface Reading {
  readonly hub: Pick<Hub, 'messageTexts' | 'turns'>;
  readonly agent: string;
}

export interface ReadMessages {
  readonly messages: TextMessage[];
  /** How many of the positions were gone through: the rest is for the next page. */
  readonly through: number;
}

/** Messages by position, in order; null where there is none to show. Between two pieces others are served. */
export async function* readInPieces(
  { hub, agent }: Reading,
  positions: readonly number[],
): AsyncGenerator<readonly (TextMessage | null)[]> {
  let size = PIECE_FIRST;
  for (let start = 0; start < positions.length; ) {
    const turn = hub.turns.giveWay(agent);
    if (turn !== null) await turn;
    const piece = await hub.messageTexts(positions.slice(start, start + size));
    start += piece.length;
    let chars = 0;
    for (const message of piece) chars += message?.chars ?? 0;
    hub.turns.spend(chars + piece.length * MESSAGE_COST);
    size = chars > PIECE_CHARS_WANTED ? Math.max(1, size >> 2) : Math.min(PIECE_MAX, size * 3);
    yield piece;
  }
}

/** A page of them and of nothing else; none for one that left while it waited. */
export async function readSome(
  room: Pick<Room, 'hub' | 'by' | 'signal'>,
  positions: readonly number[],
  charsMax: number = READ_CHARS_MAX,
): Promise<ReadMessages> {
  const reading = { hub: room.hub, agent: room.by.id };
  const read = await onePage(room, () => readMost(reading, positions, charsMax));
  return read ?? { messages: [], through: 0 };
}

/** As many as are not too much for one call; at least one. Within a page: `onePage`. */
export async function readMost(
  reading: Reading,
  positions: readonly number[],
  charsMax: number = READ_CHARS_MAX,
): Promise<ReadMessages> {
  const messages: TextMessage[] = [];
  let chars = 0;
  let through = 0;
  for await (const piece of readInPieces(reading, positions)) {
    for (const message of piece) {
      chars += message?.chars ?? 0;
      if (chars > charsMax && messages.length > 0) return { messages, through };
      if (message !== null) messages.push(message);
      through++;
    }
  }
  return { messages, through };
}

/** As JSON text, with whose word it is; a body that is too long is left out. */
export function pagedText(message: TextMessage): string {
  const isCut = message.body.length > PAGED_BODY_CHARS_MAX;
  const shown = isCut ? { ...message, body: '{}' } : message;
  const quote = message.quote ? ',"quote":true' : '';
  return `{${envelopeFieldsText(shown)},${standingFieldsText(message)}${quote}${isCut ? ',"cut":true' : ''}}`;
}

/** As many texts as fit in so many bytes, one at the least. */
export function fitting(texts: readonly string[], bytesMax: number): number {
  let chars = 0;
  for (const text of texts) chars += text.length + 1;
  // Three bytes a character is the most there is: what fits so is not counted.
  if (chars * 3 <= bytesMax) return texts.length;
  let bytes = 0;
  for (const [i, text] of texts.entries()) {
    bytes += utf8Bytes(text) + 1;
    if (bytes > bytesMax && i > 0) return i;
  }
  return texts.length;
}
