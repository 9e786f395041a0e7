/** Files that share a worker share its modules: one that replaces some is run alone, as vitest.config.ts says. */
import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.ts';

const REPLACES = /\bvi\.(mock|doMock|resetModules)\(/;

test('a test that replaces modules runs alone', () => {
  const config = readText('vitest.config.ts');
  const all = ['src', 'test', 'plugins', 'editors'].flatMap((folder) =>
    listFiles(folder, '.test.ts'),
  );
  const those = all.filter((path) => REPLACES.test(readText(path)));
  expect(those).toContain('test/simulation/simulation.test.ts');
  const [, alone = ''] = /const ALONE = \[([\s\S]*?)\];/.exec(config) ?? [];
  expect(those.filter((path) => !alone.includes(`'${path}'`))).toEqual([]);
});
