/**
 * Cutting a text so that it fits: as much of it as a tokenizer lets pass, with a mark where the rest was.
 * Only what was measured is taken, so that no tokenizer, however odd, makes it too long [PP1] [PP3].
 */
import { cutMark } from './fence.ts';

export type CutSide = 'end' | 'start' | 'middle';

export interface Cut {
  readonly text: string;
  /** Characters of the original that are left. */
  readonly kept: number;
}

/** Within so many characters a cut moves to where a word ends. */
const WORD_CHARS = 40;
/** A search ends when it is this near, of what is kept. */
const NEAR = 1 / 128;

/** The longest cut that fits, nearly; null when not even the mark does. */
export function cutToFit(
  text: string,
  side: CutSide,
  nonce: string,
  fits: (cut: string) => boolean,
): Cut | null {
  let best = cutTo(text, 0, side, nonce);
  if (!fits(best.text)) return null;
  let low = 0;
  let high = 64;
  const isFitting = (chars: number): boolean => {
    const cut = cutTo(text, chars, side, nonce);
    if (!fits(cut.text)) return false;
    if (cut.kept > best.kept) best = cut;
    return true;
  };
  // From the small end, so that a huge text costs no more than what is kept of it.
  while (high < text.length && isFitting(high)) {
    low = high;
    high *= 2;
  }
  high = Math.min(high, text.length);
  while (high - low > Math.max(1, low * NEAR)) {
    const middle = (low + high) >> 1;
    if (isFitting(middle)) low = middle;
    else high = middle;
  }
  return best;
}

function cutTo(text: string, chars: number, side: CutSide, nonce: string): Cut {
  const headChars = side === 'end' ? chars : side === 'middle' ? Math.ceil(chars / 2) : 0;
  const head = headOf(text, headChars);
  const tail = tailOf(text, chars - headChars);
  const kept = head.length + tail.length;
  const mark = cutMark(text.length - kept, 'characters', nonce);
  return { text: [head, mark, tail].filter((one) => one !== '').join('\n'), kept };
}

function headOf(text: string, chars: number): string {
  if (chars <= 0) return '';
  const head = text.slice(0, chars);
  const word = head.search(/\s\S*$/);
  const isNear = word > 0 && head.length - word <= WORD_CHARS;
  return isNear ? head.slice(0, word) : head.replace(/[\ud800-\udbff]$/, '');
}

function tailOf(text: string, chars: number): string {
  if (chars <= 0) return '';
  const tail = text.slice(-chars);
  const word = tail.slice(0, WORD_CHARS).search(/\s/);
  return word >= 0 ? tail.slice(word + 1) : tail.replace(/^[\udc00-\udfff]/, '');
}
