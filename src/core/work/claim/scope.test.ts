import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePaths, parseScope } from './scope.ts';
import { foldText } from './scope-pattern.ts';

const codeOf = (...paths: string[]) => {
  const parsed = parsePaths(paths);
  return 'refused' in parsed ? parsed.refused : null;
};
const pathsOf = (...paths: string[]) => {
  const parsed = parsePaths(paths);
  return 'refused' in parsed ? parsed.refused : parsed.paths;
};

test('[SC1] paths are normalised and keep the spelling of the caller', () => {
  expect(pathsOf('./Src//x/', 'a/b/../c', 'docs/.', 'Cafe\u0301')).toEqual([
    'Src/x',
    'a/c',
    'docs',
    'Caf\u00e9',
  ]);
  expect(pathsOf('src/x', 'src/x/', './src/x')).toEqual(['src/x']);
  expect(pathsOf('src/**/**/*.ts', '...', '.env', 'a b')).toEqual([
    'src/**/**/*.ts',
    '...',
    '.env',
    'a b',
  ]);
  expect(pathsOf()).toEqual([]);
});

test('[SC2] what leaves the worktree, is absolute or names nothing is refused, never widened', () => {
  const table: readonly (readonly [string, string])[] = [
    ['../x', 'scope.escape'],
    ['a/../../x', 'scope.escape'],
    ['{a,..}/../x', 'scope.escape'],
    ['/etc/passwd', 'scope.absolute'],
    ['{/a,b}', 'scope.absolute'],
    ['C:/x', 'scope.absolute'],
    ['', 'scope.invalid'],
    ['  ', 'scope.invalid'],
    ['.', 'scope.invalid'],
    ['./', 'scope.invalid'],
    ['a/..', 'scope.invalid'],
    ['{a,}', 'scope.invalid'],
    ['src\\x', 'scope.invalid'],
    ['a/*/../b', 'scope.invalid'],
    ['a\u0000b', 'scope.invalid'],
    ['a\nb', 'scope.invalid'],
    ['a\u202eb', 'scope.invalid'],
    ['a\ud800', 'scope.invalid'],
    ['x'.repeat(4097), 'scope.too-long'],
  ];
  for (const [path, code] of table) expect([path, codeOf('ok', path)]).toEqual([path, code]);
  expect(codeOf('x'.repeat(4096))).toBeNull();
});

test('[SC2] at most 512 distinct paths; the same one twice counts once', () => {
  const many = Array.from({ length: 512 }, (_, i) => `f${i}`);
  expect(codeOf(...many, 'f1', './f2')).toBeNull();
  expect(codeOf(...many, 'one-more')).toBe('scope.too-many');
});

test('[SC2] a glob that is too large to be decided quickly is refused', () => {
  expect(codeOf('{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}')).toBe('scope.too-complex');
  expect(codeOf('{a,b}{a,b}{a,b}{a,b}{a,b}')).toBeNull();
  expect(codeOf('a*'.repeat(600))).toBe('scope.too-complex');
  expect(codeOf('[\u4e00-\u9fff]')).toBe('scope.too-complex');
  const globs = Array.from({ length: 24 }, (_, i) => `${i}${'a*'.repeat(100)}`);
  expect(codeOf(...globs)).toBe('scope.too-complex');
});

test('[SC2] a refusal shows the path, where it stood, and what to do', () => {
  expect(parsePaths(['ok', '../x'])).toEqual({
    refused: 'scope.escape',
    message: '../x leaves the worktree; claim it in the worktree it lies in',
    detail: { path: '../x', index: 1 },
  });
});

test('[SC2] labels of worktree and branch are printable and bounded', () => {
  const scope = { worktree: 'w', branch: 'main', paths: ['a/'] };
  expect(parseScope(scope)).toEqual({ worktree: 'w', branch: 'main', paths: ['a'] });
  for (const bad of [{ worktree: 'x\u0000' }, { worktree: 'x'.repeat(4097) }, { branch: 'a\nb' }]) {
    expect(parseScope({ ...scope, ...bad })).toMatchObject({ refused: 'scope.invalid' });
  }
});

test('[SC1] any text is a path or a refusal, and a path parses to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const parsed = parsePaths([text]);
      if ('refused' in parsed) return;
      expect(parsePaths(parsed.paths)).toEqual(parsed);
    }),
    { numRuns: 2000 },
  );
});

test('[SC3] folding twice is folding once, and joins case and Unicode forms', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 10 }), (text) => {
      const folded = foldText(text);
      expect(foldText(folded)).toBe(folded);
      expect(foldText(text.normalize('NFD'))).toBe(folded);
      expect(foldText(text.normalize('NFC'))).toBe(folded);
    }),
    { numRuns: 2000 },
  );
  expect(foldText('STRAẞE')).toBe(foldText('straße'));
});
