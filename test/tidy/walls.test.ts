/**
 * Goal: every wall stands, because it was seen to stop somebody.
 * Method: a small tree under our own settings passes both tools. The same tree with one
 * violation in each of many files is then reported, file by file, with the code expected.
 * Each tool runs once per tree.
 */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folders, forBiome, forKnip, forTsc, type Plant } from './plants.ts';
import { listFiles, ROOT } from './repository.ts';
import { type Accusations, makeTree, runBiome, runKnip, runTsc } from './walled-tree.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-walls-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A linter that reads nothing finds nothing either; this it must find, and tsc does not mind it. */
const CANARY: Plant = {
  file: 'src/core/canary.ts',
  text: 'debugger;\nexport {};\n',
  caught: /noDebugger/,
};

test('the page draws every folder of src', () => {
  const walled = listFiles('src', 'tsconfig.json').map((path) => path.slice(4, -14));
  expect(folders.toSorted()).toEqual(walled.sort());
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true });
  for (const { name } of rooms) expect(folders.join(' ')).toContain(name);
});

describe('with every wall whole', () => {
  test('tsc accepts every arrow of the page', () => {
    makeTree(join(base, 'whole'), [CANARY]);
    expect(runTsc(join(base, 'whole'))).toEqual(new Map());
  });
  test('biome has nothing to say but of the canary', () => {
    expect(runBiome(join(base, 'whole'))).toEqual(
      new Map([[CANARY.file, ['lint/suspicious/noDebugger']]]),
    );
  });
});

describe('tsc stops', () => {
  let found: Accusations;
  beforeAll(() => {
    makeTree(join(base, 'for-tsc'), forTsc);
    found = runTsc(join(base, 'for-tsc'));
  });
  test.each(forTsc)('$file', ({ file, caught }) => {
    expect(found.get(file)?.join(' ') ?? 'nothing').toMatch(caught);
  });
});

describe('biome stops', () => {
  let found: Accusations;
  beforeAll(() => {
    makeTree(join(base, 'for-biome'), forBiome);
    found = runBiome(join(base, 'for-biome'));
  });
  test.each(forBiome)('$file', ({ file, caught }) => {
    expect(found.get(file)?.join(' ') ?? 'nothing').toMatch(caught);
  });
});

describe('knip stops', () => {
  let found: Accusations;
  beforeAll(() => {
    const tree = join(base, 'for-knip');
    makeTree(
      tree,
      forKnip.filter(({ text }) => text !== ''),
    );
    found = runKnip(tree);
  });
  test.each(forKnip)('$file', ({ file, caught }) => {
    expect(found.get(file)?.join(' ') ?? '').toMatch(caught);
  });
});
