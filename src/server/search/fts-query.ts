/**
 * A query in the language of FTS5. Words are letters and digits by the time they come here, and each
 * stands in quotation marks: nothing a caller writes is syntax.
 *
 * Words of a private channel are indexed under a key: those of a dm once for each of its two, `@3~word`,
 * so that one question finds all dms of an agent; those of every other one under its number, `7~word`.
 * A search under one key never meets the words of another [FT1].
 */
import type { Term } from '../../wire/search-query.ts';

/** Between two texts of one body: no phrase reaches across. */
export const GAP = '~';

export function authorWord(id: number): string {
  return `@${id}`;
}

export function channelWord(id: number): string {
  return `#${id}`;
}

/** A key stands before every word; this one, of what is open to everybody, is empty. */
export const OPEN_KEY = '';

export function channelKey(id: number): string {
  return `${id}~`;
}

export function partyKey(id: number): string {
  return `@${id}~`;
}

export interface FtsQuery {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
  /** Words of ours: all must be there, and none of the others. */
  readonly with: readonly string[];
  readonly without: readonly string[];
}

export function ftsExpression(query: FtsQuery, key: string): string {
  const term = ({ words, isBeginning }: Term): string =>
    `"${words.map((word) => key + word).join(' ')}"${isBeginning ? '*' : ''}`;
  const own = (word: string): string => `"${key}${word}"`;
  const wanted = [...query.with.map(own), ...query.wanted.map(term)].join(' AND ');
  const unwanted = [...query.without.map(own), ...query.unwanted.map(term)];
  return unwanted.length === 0 ? wanted : `(${wanted}) NOT (${unwanted.join(' OR ')})`;
}
