/**
 * What text may be stored as a name, a line, or prose, and what JSON may be
 * carried for others: an object, finite, not too deep, of a bounded size.
 * Everything here is well-formed Unicode, so it survives any door.
 */
import { HIDDEN } from './hidden.ts';
import { readJson } from './json.ts';
import { BODY_DEPTH_MAX } from './limits.ts';

const PLAIN_NAME = /^[\w.:/@#+=%&!$^-]+$/;
const ANY_NAME = /^(?!\p{M})[\p{L}\p{M}\p{N}\p{So}\p{Emoji_Modifier}\w.:/@#+=%&!$^-]+$/u;
/** For the refusals of what is no name. */
export const NAME_ALPHABET = 'letters, digits or any of _-.:/@#+=%&!$^, without blanks';

/**
 * The name of an agent or a role, the id of a claim, a task or a group: what the hub says without
 * quotes. It cannot be a sentence, and no two look alike by a character nobody sees [I15].
 */
export function isName(text: string, charsMax: number): boolean {
  if (text.length < 1 || text.length > charsMax) return false;
  return PLAIN_NAME.test(text) || (ANY_NAME.test(text) && isSeen(text));
}

/** Nothing hidden in it, and written in the one way (NFC) of those that look the same. */
export function isSeen(text: string): boolean {
  return text.search(HIDDEN) < 0 && text.normalize('NFC') === text;
}

/** A line in which everything can be seen. */
export function isPrintable(text: string, charsMax: number): boolean {
  return text.length >= 1 && text.length <= charsMax && text.search(HIDDEN) < 0;
}

/** One line of text for people; joined emoji are allowed, control characters are not. */
export function isLine(text: string, charsMax: number): boolean {
  return text.length <= charsMax && text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/** Text for people: lines, tabs, but no other control characters. */
export function isProse(text: string, charsMax: number): boolean {
  return text.length <= charsMax && text.isWellFormed() && !/[^\P{Cc}\n\r\t]/u.test(text);
}

/** How many bytes the text takes as UTF-8; a lone surrogate counts as its replacement. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isTrail(text, i + 1)) {
      // A pair is two units and four bytes.
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/** The object in JSON text, written canonically; null when it is anything but a bounded, finite object. */
export function parseObjectText(text: string, bytesMax: number): string | null {
  if (text.length > bytesMax || utf8Bytes(text) > bytesMax) return null;
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return isSound(value, BODY_DEPTH_MAX) ? JSON.stringify(value) : null;
}

/** No deeper than that, and finite: `1e999` reads as Infinity, which no JSON can say again. */
export function isSound(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isSound(one, depth - 1));
}

function isTrail(text: string, i: number): boolean {
  const unit = text.charCodeAt(i);
  return unit >= 0xdc00 && unit < 0xe000;
}
