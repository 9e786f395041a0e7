/**
 * What the package offers, name by name. A change of the public surface is a change of
 * public-names.txt, which somebody must read: rewrite it with `vitest run test/tidy -u`.
 */
import { expect, test } from 'vitest';
import { readText } from './repository.ts';

const { exports } = JSON.parse(readText('package.json'));

/** The built entries of the package, as the sources they are built from. */
const ENTRIES = Object.values<{ default?: string }>(exports).flatMap(
  ({ default: path }) => path?.replace('./dist/', 'src/').replace('.js', '.ts') ?? [],
);

/** Entries hold nothing but named re-exports, so their text is their surface. */
function namesOf(entry: string): string[] {
  const names: string[] = [];
  const text = readText(entry);
  for (const [, isType, list = ''] of text.matchAll(/export (type )?\{([^}]*)\}/g)) {
    for (const item of list.split(',').map((one) => one.trim())) {
      if (item === '') continue;
      const name = item.replace(/^type /, '').replace(/^.* as /, '');
      names.push(isType !== undefined || item.startsWith('type ') ? `${name} (type)` : name);
    }
  }
  expect(text.match(/^export (?!(type )?\{)/m), `${entry} exports by name only`).toBeNull();
  return names.sort();
}

test('the public names are the ones agreed on', async () => {
  const text = ENTRIES.map(
    (entry) =>
      `${entry}\n${namesOf(entry)
        .map((n) => `  ${n}\n`)
        .join('')}`,
  );
  await expect(text.join('\n')).toMatchFileSnapshot('./public-names.txt');
});
