/**
 * What is asked of a search, read from one line: words, "phrases", beginnings*, -without, from:NAME and
 * in:CHANNEL. There is no other syntax: whatever else a line has in it separates words. A line that
 * comes to nothing, or to too much, is refused with what to write instead [FT2].
 */
import { type Refusal, refuse } from '../core/law/decider.ts';
import { wordsOf } from './words.ts';

/** Words that follow one another. */
export interface Term {
  readonly words: readonly string[];
  /** The last word is only a beginning. */
  readonly isBeginning: boolean;
}

export interface SearchQuery {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
  readonly author: string | null;
  readonly channel: string | null;
}

export const QUERY_CHARS_MAX = 1_000;
/** In all terms together. */
export const QUERY_WORDS_MAX = 32;

const PART = /(-?)(?:(from|in):)?(?:"([^"]*)("?)|([^\s"]+))(\*?)/g;

/** `given` says the same as from: and in:, for programs. */
export function parseSearch(
  line: string,
  given: { readonly author?: string | undefined; readonly channel?: string | undefined } = {},
): SearchQuery | Refusal {
  if (line.length > QUERY_CHARS_MAX) {
    return invalid(`has ${line.length} characters, and at most ${QUERY_CHARS_MAX} are read`);
  }
  const wanted: Term[] = [];
  const unwanted: Term[] = [];
  const names = { from: given.author ?? null, in: given.channel ?? null };
  let count = 0;
  for (const [, minus, field, quoted, closing, bare = '', star] of line.matchAll(PART)) {
    if (closing === '') return invalid('has a quotation mark that is not closed');
    if (field === 'from' || field === 'in') {
      if (minus === '-') return invalid(`cannot leave out by ${field}: name what is wanted`);
      if (names[field] !== null) return invalid(`says ${field}: twice; one is read`);
      names[field] = quoted ?? `${bare}${star}`;
      if (names[field] === '') return invalid(`names nothing after ${field}:`);
      continue;
    }
    // `from: ada` is a slip of the hand; as words it would find nothing and not say why.
    if (bare === 'from:' || bare === 'in:') return invalid(`names nothing after ${bare}`);
    const words = wordsOf(quoted ?? bare);
    if (words.length === 0) continue;
    count += words.length;
    const isBeginning = star === '*' || bare.endsWith('*');
    (minus === '-' ? unwanted : wanted).push({ words, isBeginning });
  }
  if (count > QUERY_WORDS_MAX) {
    return invalid(`has ${count} words, and at most ${QUERY_WORDS_MAX} are looked for`);
  }
  const { from: author, in: channel } = names;
  if (wanted.length === 0 && author === null && channel === null) {
    return invalid('has no word to look for: write at least one word, or from:NAME or in:CHANNEL');
  }
  return { wanted, unwanted, author, channel };
}

function invalid(why: string): Refusal {
  return refuse('search.query-invalid', `the query ${why}`, {
    violations: [{ field: 'query', issue: why }],
  });
}
