/**
 * The words of a text, as search knows them [FT2]: runs of letters and digits, without case and accents.
 * Scripts that are written without spaces give one word a character, so that a part of a sentence is
 * found. Whoever indexes, asks and marks what was found cuts by this one function.
 */

export interface Word {
  readonly word: string;
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
}

/** What a word is cut to: a line of base64 is no word, and need not be found by its end. */
export const WORD_CHARS_MAX = 64;

const UNSPACED =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmr}\\p{scx=Mymr}';
const WORD = new RegExp(
  `[[${UNSPACED}]&&[\\p{L}\\p{N}\\p{M}]]|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+`,
  'gv',
);
const PLAIN = /^[a-z0-9]*$/;
const ASCII_WORD = /[A-Za-z0-9]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what ASCII is
const ASCII = /^[\x00-\x7f]*$/;
const ACCENTS = /[\u0300-\u036f]/g;
const NO_WORD = /[^\p{L}\p{N}\p{M}]/gu;

/** All words of a text, in order. */
export function wordsOf(text: string): string[] {
  if (ASCII.test(text)) {
    const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    for (let i = 0; i < words.length; i++) {
      const word = words[i] as string;
      if (word.length > WORD_CHARS_MAX) words[i] = word.slice(0, WORD_CHARS_MAX);
    }
    return words;
  }
  const words: string[] = [];
  for (const found of text.match(WORD) ?? []) {
    const word = fold(found);
    if (word !== '') words.push(word);
  }
  return words;
}

/** The same, one by one, with their places. */
export function* placedWords(text: string): Generator<Word> {
  for (const found of text.matchAll(ASCII.test(text) ? ASCII_WORD : WORD)) {
    const word = fold(found[0]);
    if (word !== '') yield { word, from: found.index, to: found.index + found[0].length };
  }
}

function fold(found: string): string {
  const lower = found.toLowerCase();
  if (PLAIN.test(lower)) return lower.slice(0, WORD_CHARS_MAX);
  const bare = lower.normalize('NFKD').replace(ACCENTS, '').replace(NO_WORD, '').toLowerCase();
  return bare.slice(0, WORD_CHARS_MAX).toWellFormed();
}
