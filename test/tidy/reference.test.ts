/** The pages that are made are as they would be made now. */
import { expect, test } from 'vitest';
import { KNOWN_NAMES } from '../../src/server/run/config-file.ts';
import { makeReference } from './reference.ts';
import { readText } from './repository.ts';
import { SETTINGS } from './settings-table.ts';

const pages = await makeReference();

test.each([...pages.keys()])('%s is fresh: npm run docs changes nothing', (path) => {
  expect(readText(path)).toBe(pages.get(path));
});

test('every setting is described, and nothing else is', () => {
  expect(Object.keys(SETTINGS).toSorted()).toEqual([...KNOWN_NAMES].sort());
});
