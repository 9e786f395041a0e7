/**
 * The part of a message in which something was found: text and places in it, never markup. It is
 * taken from the body in the log.
 */
import { textsOf } from '../../wire/body-text.ts';
import type { Term } from '../../wire/search-query.ts';
import { placedWords, type Word } from '../../wire/words.ts';
import type { Excerpt } from '../desk/search-port.ts';

const CHARS_BEFORE = 60;
const CHARS_MAX = 200;
const FOUND_MAX = 16;

export function excerptOf(body: Record<string, unknown>, wanted: readonly Term[]): Excerpt {
  const texts = textsOf(body);
  const wantedWords = wanted.flatMap(({ words, isBeginning }) =>
    words.map((word, i) => ({ word, isBeginning: isBeginning && i === words.length - 1 })),
  );
  const isWanted = ({ word }: Word): boolean =>
    wantedWords.some((one) => (one.isBeginning ? word.startsWith(one.word) : word === one.word));
  for (const text of texts) {
    for (const word of placedWords(text)) {
      if (isWanted(word)) return cut(text, word.from, isWanted);
    }
  }
  return cut(texts.find((text) => text.trim() !== '') ?? '', 0, () => false);
}

function cut(text: string, at: number, isWanted: (word: Word) => boolean): Excerpt {
  const from = startNear(text, Math.max(0, at - CHARS_BEFORE));
  const to = Math.min(text.length, from + CHARS_MAX);
  const head = from > 0 ? '…' : '';
  const part = text.slice(from, to).toWellFormed();
  const found: [number, number][] = [];
  for (const word of placedWords(part)) {
    if (found.length >= FOUND_MAX) break;
    if (isWanted(word)) found.push([word.from + head.length, word.to + head.length]);
  }
  return { text: `${head}${part}${to < text.length ? '…' : ''}`, found };
}

/** The beginning of a word nearby, so that the excerpt begins with a whole one. */
function startNear(text: string, at: number): number {
  if (at === 0) return 0;
  const blank = text.slice(at, at + CHARS_BEFORE / 2).search(/\s\S/);
  return blank < 0 ? at : at + blank + 1;
}
