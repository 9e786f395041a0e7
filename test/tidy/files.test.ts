/**
 * The files of the repository: names, sizes, links, and nothing that belongs to the machine
 * they were written on.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, ROOT, readText } from './repository.ts';

/** Past this a file has a second idea. A test may tell a longer story. */
const LINES_MAX = 400;
const TEST_LINES_MAX = 500;

const TEXT =
  /\.(ts|tsx|css|html|js|json|md|yaml|yml|txt|grit|sh)$|^\.ci\/run$|^\.(gitignore|npmrc)$|^LICENSE$/;
const all = listFiles('').filter((path) => TEXT.test(path));

test('no file is longer than it may be', () => {
  const code = all.filter((path) => /^(src|test|bench|plugins|bin)\/.*\.(tsx?|css|js)$/.test(path));
  const long = code.filter((path) => {
    const lines = readText(path).trimEnd().split('\n').length;
    return lines > (path.endsWith('.test.ts') ? TEST_LINES_MAX : LINES_MAX);
  });
  expect(long).toEqual([]);
});

test('file names are kebab-case, and none is a catch-all', () => {
  const code = all.filter((path) => /^(src|test|bench|plugins|bin)\/.*\.(tsx?|css|js)$/.test(path));
  const names = code.map((path) => path.split('/').at(-1) ?? '');
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/.test(name))).toEqual([]);
  const vague =
    /(^|[-.])(util|utils|helper|helpers|manager|impl|common|misc|data|info|base)([-.]|$)/;
  expect(names.filter((name) => vague.test(name))).toEqual([]);
});

test('every source file opens by saying what it is', () => {
  const silent = [...listFiles('src', '.ts'), ...listFiles('src', '.tsx')].filter(
    (path) => !/\.test\.ts$/.test(path) && !readText(path).startsWith('/**'),
  );
  expect(silent).toEqual([]);
});

test('every relative link in the documents leads somewhere', () => {
  const pages = all.filter((path) => path.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(10);
  const broken = pages.flatMap((page) => {
    const prose = readText(page).replace(/```[\s\S]*?```/g, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => (target as string).split('#')[0] as string)
      .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
      .map((target) => `${page} → ${target}`);
  });
  expect(broken).toEqual([]);
});

test('every file that a document names by path exists', () => {
  const pages = all.filter((path) => /^(docs\/|README|CONTRIBUTING|AGENTS)/.test(path));
  const missing = pages.flatMap((page) =>
    [...readText(page).matchAll(/`((?:src|test|docs|bench|plugins|bin)\/[\w./-]+\.\w+)`/g)]
      .map(([, path]) => path as string)
      .filter((path) => !existsSync(join(ROOT, path)))
      .map((path) => `${page} → ${path}`),
  );
  const architecture = readText('docs/ARCHITECTURE.md');
  const named = [...architecture.matchAll(/`([a-z]+\/[\w/-]+\.ts)`/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(5);
  const lost = named.filter(
    (path) => !existsSync(join(ROOT, 'src', String(path))) && !existsSync(join(ROOT, String(path))),
  );
  expect([...missing, ...lost]).toEqual([]);
});

test('nothing names a machine, a home or a registry', () => {
  // Spelt in pieces, or this file would find itself. Ada is nobody's neighbour: examples live in her home.
  const home = ['/ho', 'me/(?!ada\\b)|/Us', 'ers/|/ro', 'ot/|/wo', 'rk/'].join('');
  const host = ['https?://regi', 'stry\\.|regi', 'stry\\.(npm|yarn)'].join('');
  const foreign = new RegExp(`(^|[^\\w.~/-])(${home})|${host}`, 'm');
  expect(all.filter((path) => foreign.test(readText(path)))).toEqual([]);
});

test('the lock file says what, not where from', () => {
  expect(readText('package-lock.json')).not.toMatch(/"resolved": "https?:/);
});

test('no debt is left without a number', () => {
  const marks = new RegExp(['\\bTO', 'DO(?!\\(#\\d+\\))|\\bFIX', 'ME\\b|\\bXX', 'X\\b'].join(''));
  const code = all.filter((path) => /^(src|test|bench|plugins|bin)\//.test(path));
  expect(code.filter((path) => marks.test(readText(path)))).toEqual([]);
});
