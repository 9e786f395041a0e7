/**
 * Text as it may stand on the screen. A peer's message is data: what would move the cursor, colour,
 * reorder or hide text is shown as an escape and never obeyed [TU1]. Width is counted in columns, as
 * terminals do.
 */
import { plainLine } from '../wire/plain-line.ts';

const TAB = '    ';

/** One line, safe to print. */
export function plain(text: string): string {
  return plainLine(text, TAB);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ASCII = /^[\x20-\x7e]*$/;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** East Asian Wide and Fullwidth, by block. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

/** What a person takes for one character. */
export function graphemes(text: string): string[] {
  return ASCII.test(text)
    ? text.split('')
    : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns that a text of safe characters takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const one of graphemes(text)) width += graphemeWidth(one);
  return width;
}

function graphemeWidth(one: string): number {
  if (one.length === 1 && one < '\u0300') return 1;
  if (ZERO.test(one)) return 0;
  return EMOJI.test(one) || WIDE.test(one) ? 2 : 1;
}

/** The text within so many columns, with a sign where some is left out. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (widthOf(text) <= width) return text;
  let taken = '';
  let used = 0;
  for (const one of graphemes(text)) {
    used += graphemeWidth(one);
    if (used > width - 1) break;
    taken += one;
  }
  return `${taken}…`;
}

/** Lines of at most so many columns, broken at spaces where there are any. Text is lost nowhere but at a break. */
export function wrap(text: string, width: number): string[] {
  const room = Math.max(2, width);
  if (widthOf(text) <= room) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const push = (): void => {
    lines.push(withoutEnd(line));
    line = '';
    used = 0;
  };
  for (const word of text.split(/(?<= )/)) {
    const wordWidth = widthOf(withoutEnd(word));
    if (used > 0 && used + wordWidth > room) push();
    if (wordWidth <= room) {
      line += word;
      used += widthOf(word);
      continue;
    }
    for (const one of graphemes(word)) {
      if (used + graphemeWidth(one) > room) push();
      line += one;
      used += graphemeWidth(one);
    }
  }
  if (line !== '') push();
  return lines;
}

/** Without the plain spaces at its end. Other blanks, wide ones say, are part of the text. */
function withoutEnd(text: string): string {
  return text.replace(/ +$/, '');
}
