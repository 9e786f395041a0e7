/**
 * Goal: overlap is exact. Method: random patterns over a small alphabet; a witness is checked by
 * an oracle that tries, and where there is none every path up to the length at which the two
 * patterns must have met is tried. `z` stands for every character that no pattern names.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coversByTrying, everyPath } from '../../../testing/scope-oracle.ts';
import { parsePaths, patternsOf } from './scope.ts';
import { covers, overlap } from './scope-overlap.ts';
import type { PathPattern } from './scope-pattern.ts';

function patternOf(text: string): PathPattern {
  const parsed = parsePaths([text]);
  if ('refused' in parsed) throw new Error(parsed.message);
  return patternsOf(parsed.paths)[0] as PathPattern;
}

const witnessOf = (a: string, b: string) => overlap(patternOf(a), patternOf(b))?.witness ?? null;

const piece = fc.constantFrom(
  'a',
  'b',
  '*',
  '?',
  '[ab]',
  '[!a]',
  '[^ab]',
  '[a-b]',
  '[b-a]',
  '{a,b}',
  '{a,}',
  '{ab,b*}',
);
const inSegment = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));
const folder = fc.constantFrom(
  'a',
  'b',
  '*',
  '**',
  '?',
  '[!a]',
  '{a,b}',
  'ab',
  '?b',
  '{a,a/b}',
  '**/a',
  '[ab]',
);
const inPath = fc.array(folder, { minLength: 1, maxLength: 3 }).map((folders) => folders.join('/'));

function holds(a: string, b: string, universe: readonly string[]): void {
  const witness = witnessOf(a, b);
  if (witness !== null) {
    expect([witness, coversByTrying(a, witness), coversByTrying(b, witness)]).toEqual([
      witness,
      true,
      true,
    ]);
  } else {
    expect(
      universe.find((path) => coversByTrying(a, path) && coversByTrying(b, path)),
    ).toBeUndefined();
  }
  expect(witnessOf(b, a) === null).toBe(witness === null);
}

const words = everyPath(['a', 'b', 'z'], 6).map((path) => path.replaceAll('/', ''));
const spelt = ['[ab]', '[!a]', '[^ab]', '[a-b]', '[b-a]'];
const paths = everyPath(['a', 'b', 'ab', 'z'], 6);
/** How many names a pattern asks for at most; two patterns that meet at all meet within their sum. */
const lengthOf = (pattern: string) =>
  pattern
    .replaceAll('{a,a/b}', 'a/b')
    .split('/')
    .filter((name) => name !== '**').length;

test('[SC5] inside one name: a witness is covered by both, and no witness means none exists', () => {
  fc.assert(
    fc.property(inSegment, inSegment, (a, b) => {
      // `{a,}` alone may come to nothing, which is the root and is refused.
      fc.pre(!('refused' in parsePaths([a, b])));
      holds(a, b, [...words, ...spelt, a, b]);
    }),
    { numRuns: 400 },
  );
});

test('[SC5] over folders: a witness is covered by both, and no witness means none exists', () => {
  fc.assert(
    fc.property(inPath, inPath, (a, b) => {
      fc.pre(lengthOf(a) + lengthOf(b) <= 6);
      holds(a, b, [...paths, a, b]);
    }),
    { numRuns: 500 },
  );
});

test('[SC5] covers agrees with trying', () => {
  const tried = everyPath(['a', 'b', 'ab', 'z', '[ab]'], 4);
  fc.assert(
    fc.property(inPath, fc.constantFrom(...tried), (pattern, path) => {
      expect(covers(patternOf(pattern), path)).toBe(coversByTrying(pattern, path));
    }),
    { numRuns: 3000 },
  );
});

test('[SC5] the table of the issue and of plain folders', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['src/**/*.ts', 'src/a/*.ts', true],
    ['src/**/*.ts', 'src/a/*.js', false],
    ['src/**/*.ts', 'src/a.ts/', true], // a folder, because its name ends in a slash
    ['**/*.ts', 'docs/a.md', false],
    ['**/*.ts', 'docs/v1.2', true],
    ['**/*.ts', '.github', true],
    ['src/*.ts', 'src/*.js', false],
    ['src', 'src/a.py', true],
    ['src/a', 'src/ab', false],
    ['./src//x/', 'src/x', true],
    ['src/../tests', 'tests/x', true],
    ['src/*.py', 'src/a.py', true],
    ['src/**', 'src', true],
    ['**/test_*.py', 'pkg/test_a.py', true],
    ['**/test_*.py', 'pkg/conf.py/deep', true], // deep may be a folder
    ['*/a', 'b', true],
    ['a/*/c', 'a/b/d', false],
    ['{src,lib}/*.ts', 'lib/x.ts', true],
    ['{src,lib}/*.ts', 'bin/x.ts', false],
  ];
  for (const [a, b, doMeet] of table) {
    expect([a, b, witnessOf(a, b) !== null]).toEqual([a, b, doMeet]);
  }
});

test('[SC5] long patterns that defeat backtracking are decided at once', () => {
  const stars = `${'a*'.repeat(60)}b`;
  const other = `${'*a'.repeat(60)}c`;
  expect(witnessOf(stars, other)).toBeNull();
  const deep = `${'**/a/'.repeat(60)}b`;
  expect(witnessOf(deep, `${'a/**/'.repeat(60)}c`)).not.toBeNull();
});

test('[SC3] case and Unicode aliases are one path', () => {
  for (const [a, b] of [
    ['SRC/Main.TS', 'src/main.ts'],
    ['caf\u00e9', 'CAFE\u0301'],
    ['ΟΔΟΣ', 'οδος'],
    ['[A-C].txt', 'b.TXT'],
  ] as const) {
    expect([a, b, witnessOf(a, b)]).not.toContain(null);
  }
  expect(witnessOf('[!A]', 'a')).toBeNull();
});

test('[SC4] a file spelt like a glob is covered by its own spelling', () => {
  for (const path of ['app/[id]/page.tsx', 'app/[post-id]/page.tsx', 'app/[...rest].ts', 'a{b}c']) {
    expect(covers(patternOf(path), path)).toBe(true);
  }
  expect(witnessOf('app/[id]/**', 'app/i/x')).toBe('app/i/x');
  expect(covers(patternOf('app/[id]/*.tsx'), 'app/[id]/page.tsx')).toBe(true);
});

test('[SC7] a name with an extension is a file: nothing lies below it, and trying agrees', () => {
  const names = ['a', 'b', 'a.ts', 'b.js', 'b.ts'];
  const segment = fc.constantFrom(
    'a',
    '*',
    '**',
    'a.ts',
    '*.ts',
    '*.js',
    '?.ts',
    'b.*',
    '{a,b}.ts',
  );
  const pattern = fc.array(segment, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('/'));
  const tried = everyPath(names, 4);
  fc.assert(
    fc.property(pattern, pattern, (a, b) => {
      const isMet = tried.some((path) => coversByTrying(a, path) && coversByTrying(b, path));
      expect([a, b, witnessOf(a, b) !== null]).toEqual([a, b, isMet]);
    }),
    { numRuns: 400 },
  );
});
