/**
 * Goal: the index finds exactly what looking at everyone finds, whatever was added and removed
 * before. Method: random patterns come and go; every search is held against a scan.
 */
import { expect, test } from 'vitest';
import { createChance } from '../../../testing/chance.ts';
import { parsePaths, patternsOf } from './scope.ts';
import { ScopeIndex } from './scope-index.ts';
import { overlap } from './scope-overlap.ts';
import type { PathPattern } from './scope-pattern.ts';

function patterns(paths: readonly string[]): readonly PathPattern[] {
  const parsed = parsePaths(paths);
  if ('refused' in parsed) throw new Error(parsed.message);
  return patternsOf(parsed.paths);
}

const PARTS = ['a', 'B', 'b', 'src', '*', '**', '?', '[ab]', '{a,src}', '{a,b/a}', '*.ts', 'x.ts'];

test.each([1, 2, 3])('[SC6] the index finds what a scan finds (seed %i)', (seed) => {
  const chance = createChance(seed);
  const draw = () =>
    patterns(
      Array.from({ length: chance.int(0, 3) }, () =>
        Array.from({ length: chance.int(1, 4) }, () => chance.pick(PARTS)).join('/'),
      ),
    );
  const index = new ScopeIndex<{ owner: number }>();
  const all = new Map<{ owner: number }, readonly PathPattern[]>();
  for (let step = 0; step < 2000; step++) {
    if (chance.isLikely(0.5) || all.size === 0) {
      const holder = { owner: chance.int(0, 5) };
      const paths = draw();
      index.add(holder, paths);
      all.set(holder, paths);
    } else {
      const holder = chance.pick([...all.keys()]);
      index.remove(holder);
      all.delete(holder);
    }
    if (all.size > 40)
      for (const holder of [...all.keys()].slice(0, 30)) {
        index.remove(holder);
        all.delete(holder);
      }
    expect(index.size).toBe(all.size);
    const wanted = draw();
    const me = chance.int(0, 5);
    const scanned = new Set<object>();
    for (const [holder, paths] of all) {
      if (holder.owner === me) continue;
      if (wanted.some((mine) => paths.some((theirs) => overlap(mine, theirs)))) scanned.add(holder);
    }
    const found = index.find(wanted, { skip: ({ owner }) => owner === me });
    expect(new Set(found.map(({ holder }) => holder))).toEqual(scanned);
    expect(index.find(wanted, { skip: ({ owner }) => owner === me, limit: 1 }).length).toBe(
      Math.min(1, scanned.size),
    );
  }
});

test('[SC6] a row says which paths meet and where', () => {
  const index = new ScopeIndex<{ owner: string }>();
  const ada = { owner: 'ada' };
  index.add(ada, patterns(['src/**/*.ts', 'docs']));
  expect(index.find(patterns(['SRC/a/*.ts', 'docs/x.md', 'lib']))).toEqual([
    { holder: ada, mine: 'SRC/a/*.ts', theirs: 'src/**/*.ts', witness: 'src/a/x.ts' },
    { holder: ada, mine: 'docs/x.md', theirs: 'docs', witness: 'docs/x.md' },
  ]);
});
