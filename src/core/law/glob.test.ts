import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCounter, createMatcher, isGlob } from './glob.ts';

/** The same glob as a regular expression, by the book and without regard for speed. */
function oracle(pattern: string): RegExp {
  const chars = [...pattern];
  const quoted = (char: string) => `\\u{${char.codePointAt(0)?.toString(16)}}`;
  let source = '';
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    if (char === '*') source += '[^]*';
    else if (char === '?') source += '[^]';
    else if (char !== '[') source += quoted(char);
    else {
      const first = chars[i + 1] === '!' ? i + 2 : i + 1;
      const end = chars.indexOf(']', first + 1);
      if (end < 0) {
        source += quoted(char);
        continue;
      }
      source += setSource(chars.slice(first, end), first === i + 2, quoted);
      i = end;
    }
  }
  return new RegExp(`^${source}$`, 'u');
}

function setSource(
  set: readonly string[],
  isNegated: boolean,
  quoted: (char: string) => string,
): string {
  let inner = '';
  for (let i = 0; i < set.length; i++) {
    const low = set[i] as string;
    const high = set[i + 1] === '-' ? set[i + 2] : undefined;
    if (high === undefined) {
      inner += quoted(low);
      continue;
    }
    i += 2;
    if ((low.codePointAt(0) ?? 0) <= (high.codePointAt(0) ?? 0))
      inner += `${quoted(low)}-${quoted(high)}`;
  }
  return isNegated ? `[^${inner}]` : `[${inner}]`;
}

const letters = fc.constantFrom('a', 'b', 'c', '/', ':', '-', '!', ']', '\uFF5E', '\u{1F600}');
const half = fc.constantFrom('\uD83D', '\uDE00');
const signs = fc.oneof({ weight: 2, arbitrary: letters }, fc.constantFrom('*', '?', '['));

test('[C3] a glob matches what its regular expression matches', () => {
  const pattern = fc.array(signs, { maxLength: 10 }).map((chars) => chars.join(''));
  const name = fc.array(letters, { maxLength: 10 }).map((chars) => chars.join(''));
  fc.assert(
    fc.property(pattern, name, (glob, text) => {
      expect(createMatcher(glob)(text)).toBe(oracle(glob).test(text));
    }),
    { numRuns: 5000 },
  );
});

test('[C3] many globs together match as often as each for itself, also over broken characters', () => {
  const text = fc
    .array(fc.oneof({ weight: 6, arbitrary: signs }, half), { maxLength: 6 })
    .map((chars) => chars.join(''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), text, (patterns, name) => {
      const each = patterns.filter((pattern) => oracle(pattern).test(name));
      expect(createCounter(patterns)(name)).toBe(each.length);
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['ticket:*', 'ticket:ENGI-1', true],
  ['team/*', 'team/', true],
  ['team/*', 'Team/a', false],
  ['*', 'a/b:c', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[]a]', ']', true],
  ['a[b', 'a[b', true],
  ['plain', 'plain', true],
])('[C3] %s on %s is %s', (pattern, name, isMatch) => {
  expect(createMatcher(pattern)(name)).toBe(isMatch);
});

test('[C3] a pattern made to backtrack is answered before the test runs out of time', () => {
  const matches = createMatcher(`${'*a'.repeat(60)}b`);
  expect(matches('a'.repeat(256))).toBe(false);
});

test('[C3] a name without signs is no glob', () => {
  expect(['abc', 'a]', 'a-b!'].map(isGlob)).toEqual([false, false, false]);
});
