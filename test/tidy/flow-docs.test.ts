/** What `synod/flow` exports has an example where it is declared; those of types are compiled with the package [RE3]. */
import { expect, test } from 'vitest';
import { exampleOf, readExports } from './flow-names.ts';

test('every exported name of synod/flow has an @example', () => {
  const all = readExports();
  expect(all.length).toBeGreaterThan(150);
  const bare = all.filter((one) => (exampleOf(one) ?? '').trim() === '');
  expect(bare.map(({ name, path }) => `${name} in ${path}`)).toEqual([]);
});
