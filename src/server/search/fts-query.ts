/**
 * A query in the language of FTS5. Words are letters and digits by the time they come here, and each
 * stands in quotation marks: nothing a caller writes is syntax.
 *
 * Words of a private channel are indexed under the channel's number, `7~word`, so a search in one
 * channel never meets the words of another [FT1].
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

/** What stands before every word of a private channel; nothing before those of an open one. */
export function prefixOf(channel: number | null): string {
  return channel === null ? '' : `${channel}~`;
}

export interface FtsQuery {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
  /** Words of ours: all must be there, and none of the others. */
  readonly with: readonly string[];
  readonly without: readonly string[];
}

export function ftsExpression(query: FtsQuery, channel: number | null): string {
  const prefix = prefixOf(channel);
  const term = ({ words, isBeginning }: Term): string =>
    `"${words.map((word) => prefix + word).join(' ')}"${isBeginning ? '*' : ''}`;
  const own = (word: string): string => `"${prefix}${word}"`;
  const wanted = [...query.with.map(own), ...query.wanted.map(term)].join(' AND ');
  const unwanted = [...query.without.map(own), ...query.unwanted.map(term)];
  return unwanted.length === 0 ? wanted : `(${wanted}) NOT (${unwanted.join(' OR ')})`;
}
