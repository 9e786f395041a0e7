/**
 * Messages for a page: read from the log some at a time, so that a page costs what it shows however
 * long bodies are, and written as text that fits its bytes. A body that is too long for a page is left
 * out, and the message says so.
 */
import { utf8Bytes } from '../../core/law/text.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TextMessage } from '../../hub/message-store.ts';
import { envelopeFieldsText, standingFieldsText } from './envelope.ts';

/** What one page of messages is at the most, in bytes of JSON. */
export const MESSAGE_PAGE_BYTES_MAX: number = 1024 * 1024;
/** A longer body is not part of a page. */
const PAGED_BODY_CHARS_MAX = 128 * 1024;
/** What one call reads of the log, in characters; a page ends early before it reads more. */
const READ_CHARS_MAX = 8 * 1024 * 1024;
const PIECE_FIRST = 8;
const PIECE_MAX = 64;

/** Messages by position, in order, until they are too much for one call; at least one. */
export async function readSome(
  hub: Hub,
  positions: readonly number[],
  charsMax: number = READ_CHARS_MAX,
): Promise<TextMessage[]> {
  const read: TextMessage[] = [];
  let chars = 0;
  for (let start = 0, piece = PIECE_FIRST; start < positions.length; piece *= 2) {
    const end = start + Math.min(piece, PIECE_MAX);
    for (const message of await hub.messageTexts(positions.slice(start, end))) {
      if (message === null) continue;
      if (chars > charsMax) return read;
      read.push(message);
      chars += message.chars;
    }
    start = end;
  }
  return read;
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
