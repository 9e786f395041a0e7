/**
 * Every rule in docs/SPEC.md is proved by a test, and no test or comment cites a rule that is
 * not there. A rule is cited where a title begins with its id: `'[G2] append refuses …'`.
 */
import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.ts';

/** The numbered fixtures of SOX share one rule. */
const SOX_ID = /^SOX-S?\d+$/;

const rules = [...readText('docs/SPEC.md').matchAll(/^- \*\*\[([A-Z]+\d+|SOX-n)\]\*\*/gm)].map(
  ([, id]) => id as string,
);
const known = new Set(rules);

const citations: { readonly id: string; readonly path: string }[] = [];
for (const path of ['src', 'test', 'plugins', 'editors'].flatMap((folder) =>
  listFiles(folder, '.ts'),
)) {
  // Not this file: it speaks of rules and proves none.
  if (path === 'test/tidy/spec.test.ts') continue;
  if (!/\.(test|contract)\.ts$|^test\//.test(path)) continue;
  for (const [, ids = ''] of readText(path).matchAll(/['"`]((?:\[[A-Z]+\d+\] ?)+)/g)) {
    for (const [, id = ''] of ids.matchAll(/\[([A-Z]+\d+)\]/g)) citations.push({ id, path });
  }
}

const cited = new Map(citations.map(({ id, path }) => [id, path]));

/** Rules of one room and where they are proved; a test elsewhere that cites one means another. */
const HOMES: Readonly<Record<string, RegExp>> = {
  BC: /\/bus/,
  BD: /\/bus/,
  BU: /\/bus/,
  CF: /^src\/server\/run\//,
  EN: /^src\/bus\//,
  FR: /^src\/bus\//,
  G: /^src\/log\/|^test\/(conformance|e2e|nats)\//,
  GI: /^(src|test)\/place\/|^test\/e2e\//,
  HK: /^src\/server\/hooks\//,
  IN: /install/,
  K: /^src\/client\/|^test\/e2e\//,
  LV: /^test\/live\//,
  P: /(^|\/)plugins\//,
  QU: /^src\/(server\/hooks|wire)\/|^test\/attack\//,
  RS: /\/bus\//,
  SD: /\/sdk/,
  SY: /\/synapse\//,
  TU: /^src\/tui\/|^test\/e2e\//,
  W: /^src\/server\/doors\/|^test\/e2e\//,
  WO: /\/bus/,
  WP: /\/bus\/programs\//,
};

/** Attacks are made from outside, on any room. */
const ANYWHERE = /^test\/attack\//;

test('a rule of one room is cited by its tests alone', () => {
  const strays = citations.filter(({ id, path }) => {
    const home = HOMES[id.replace(/\d+$/, '')];
    return home !== undefined && !home.test(path) && !ANYWHERE.test(path);
  });
  expect(strays).toEqual([]);
});

test('the page names each rule once', () => {
  expect(rules.length).toBeGreaterThan(50);
  expect(rules.filter((id, at) => rules.indexOf(id) !== at)).toEqual([]);
});

test('every rule is proved', () => {
  expect(rules.filter((id) => !cited.has(id) && id !== 'SOX-n')).toEqual([]);
});

test('no test cites a rule that is not there', () => {
  expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
});

test('no comment cites a rule that is not there', () => {
  const strangers = ['src', 'plugins', 'bench'].flatMap((folder) =>
    listFiles(folder).flatMap((path) =>
      [...readText(path).matchAll(/\[([A-Z]+\d+|SOX-S?\d+)\]/g)]
        .map(([, id]) => id as string)
        .filter((id) => !known.has(id) && !SOX_ID.test(id))
        .map((id) => `${path}: [${id}]`),
    ),
  );
  expect(strangers).toEqual([]);
});

test('what the law decides has a rule: every file with a decider cites one', () => {
  const deciders = listFiles('src/core', '.ts').filter(
    (path) => !path.endsWith('.test.ts') && /^export function decide[A-Z]/m.test(readText(path)),
  );
  expect(deciders.length).toBeGreaterThan(15);
  expect(deciders.filter((path) => !/\[[A-Z]+\d+\]/.test(readText(path)))).toEqual([]);
});
