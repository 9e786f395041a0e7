/** Every runtime dependency has its reason in docs/DEPENDENCIES.md, and is imported where it says. */
import { expect, test } from 'vitest';
import { listFiles, readText, tableRows } from './repository.ts';

const manifest = JSON.parse(readText('package.json'));
const rows = tableRows(readText('docs/DEPENDENCIES.md'), 3).flatMap(([name = '', where = '']) => {
  const [, inner] = /^`(.+)`$/.exec(name) ?? [];
  return inner === undefined ? [] : [{ name: inner, where }];
});

test('the reasons are given for exactly what is installed', () => {
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    Object.keys(manifest.dependencies).toSorted(),
  );
});

test.each(rows)('$name is imported where the page says, and nowhere else', ({ name, where }) => {
  const said = [...where.matchAll(/`([a-z]+)`/g)].map(([, folder]) => folder as string);
  const pattern = new RegExp(`(from|import\\()\\s*'${name}(/[^']*)?'`);
  const users = [...listFiles('src', '.ts'), ...listFiles('plugins', '.js')]
    .filter((path) => !path.endsWith('.test.ts') && pattern.test(readText(path)))
    .map((path) => (path.startsWith('src/') ? (path.split('/')[1] as string) : 'plugins'));
  expect([...new Set(users)].sort()).toEqual(said.toSorted());
});
