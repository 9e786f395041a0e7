/**
 * Unix globs over a whole channel name, case-sensitive [C3]: `*` is any run (also
 * `/` and `:`), `?` one character, `[seq]` and `[!seq]` a set. An unclosed `[` is
 * an ordinary character. Matching never backtracks exponentially: only the last
 * `*` is ever retried.
 */
import { matchStars } from './star-match.ts';

export function isGlob(pattern: string): boolean {
  return /[*?[]/.test(pattern);
}

type Token =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly Range[] };

type Range = readonly [low: number, high: number];

export type Matcher = (name: string) => boolean;

export function createMatcher(pattern: string): Matcher {
  const start = plainStart(pattern);
  if (start === pattern) return (name) => name === pattern;
  const tokens = parseGlob(pattern.slice(start.length));
  if (tokens.length === 1 && tokens[0]?.kind === 'any') return (name) => name.startsWith(start);
  return (name) =>
    name.startsWith(start) && matchStars(tokens, [...name.slice(start.length)], isStar, matchesOne);
}

/** How many of the patterns match a name; only those are tried that begin as the name does. */
export function createCounter(patterns: readonly string[]): (name: string) => number {
  const byStart = Map.groupBy(patterns, plainStart);
  const matchers = new Map([...byStart].map(([start, some]) => [start, some.map(createMatcher)]));
  const lengths = new Set([...byStart.keys()].map(({ length }) => length));
  return (name) => {
    let count = 0;
    for (const length of lengths) {
      if (length > name.length) continue;
      for (const matches of matchers.get(name.slice(0, length)) ?? []) if (matches(name)) count++;
    }
    return count;
  };
}

/** What is left of a glob behind what every match begins with. */
export function wildPart(pattern: string): string {
  return pattern.slice(plainStart(pattern).length);
}

/** What every match begins with; never half a character. */
function plainStart(pattern: string): string {
  const end = pattern.search(/[\ud800-\udbff]?[*?[]/);
  return end < 0 ? pattern : pattern.slice(0, end);
}

function parseGlob(pattern: string): Token[] {
  const chars = [...pattern];
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'any') tokens.push({ kind: 'any' });
    } else if (char === '?') {
      tokens.push({ kind: 'one' });
    } else if (char === '[') {
      const set = parseSet(chars, i);
      if (set === null) tokens.push({ kind: 'char', char });
      else {
        tokens.push(set.token);
        i = set.end;
      }
    } else {
      tokens.push({ kind: 'char', char });
    }
  }
  return tokens;
}

function parseSet(chars: readonly string[], start: number): { token: Token; end: number } | null {
  const isNegated = chars[start + 1] === '!';
  const first = start + (isNegated ? 2 : 1);
  // A `]` right behind the opening bracket stands for itself.
  let end = first + 1;
  while (end < chars.length && chars[end] !== ']') end++;
  if (end >= chars.length) return null;
  const ranges: Range[] = [];
  for (let i = first; i < end; i++) {
    const low = codePoint(chars[i]);
    if (chars[i + 1] === '-' && i + 2 < end) {
      ranges.push([low, codePoint(chars[i + 2])]);
      i += 2;
    } else {
      ranges.push([low, low]);
    }
  }
  return { token: { kind: 'set', isNegated, ranges }, end };
}

function isStar(token: Token): boolean {
  return token.kind === 'any';
}

function matchesOne(token: Token, char: string): boolean {
  switch (token.kind) {
    case 'any':
      return false;
    case 'one':
      return true;
    case 'char':
      return token.char === char;
    case 'set': {
      const code = codePoint(char);
      return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.isNegated;
    }
  }
}

/** JavaScript compares strings by UTF-16 unit, which is another order beyond the basic plane. */
function codePoint(char: string | undefined): number {
  return char?.codePointAt(0) ?? 0;
}
