import { expect, test } from 'vitest';
import { createHoldings, createPathOverlap, type HeldClaim } from './holdings.ts';

const claim = (owner: string, ...paths: string[]): HeldClaim => ({
  task_id: `task-${owner}`,
  owner,
  paths,
  lease_expires_at: 1_000,
});

function owners(claims: HeldClaim[], path: string, reach: 'file' | 'tree' | 'folder'): string[] {
  return createHoldings(claims)({ path, reach }).map(({ owner }) => owner);
}

test('[GI18] a file is held by whoever claimed it, its folder, a glob, or the whole worktree', () => {
  const claims = [
    claim('ada', 'src/a.ts'),
    claim('bo', 'src'),
    claim('cy', '**/*.ts'),
    claim('di'),
    claim('eve', 'docs'),
  ];
  expect(owners(claims, 'src/a.ts', 'file')).toEqual(['ada', 'bo', 'cy', 'di']);
  expect(createHoldings(claims)({ path: 'SRC/A.ts', reach: 'file' })[2]).toEqual({
    claimId: 'task-cy',
    owner: 'cy',
    paths: ['**/*.ts'],
    lapsesAt: 1_000_000,
    goneSince: null,
  });
});

test('[GI18] a folder is made beside what is held below it; a tree is not removed over it', () => {
  const claims = [claim('ada', 'src/a.ts')];
  expect(owners(claims, 'src', 'folder')).toEqual([]);
  expect(owners(claims, 'src', 'tree')).toEqual(['ada']);
  expect(owners(claims, '.', 'tree')).toEqual(['ada']);
  expect(owners([claim('ada', 'src')], 'src', 'folder')).toEqual(['ada']);
  expect(owners([claim('ada', 'src/*.ts')], 'docs', 'tree')).toEqual([]);
});

test('[GI18] a name on disk is no pattern', () => {
  expect(owners([claim('ada', 'src/ab.ts')], 'src/*.ts', 'file')).toEqual([]);
  expect(owners([claim('ada', 'src/s.tsx')], 'src/[slug].tsx', 'tree')).toEqual([]);
  expect(owners([claim('ada', 'src/[slug].tsx')], 'src/[slug].tsx', 'file')).toEqual(['ada']);
  for (const odd of ['src/two\nlines', 'src/{a,b}', 'src/back\\slash', 'src/-rf']) {
    expect(owners([claim('ada', 'src')], odd, 'file'), odd).toEqual(['ada']);
  }
});

test('[GI20] claimed paths overlap as the law says', () => {
  const pathsOverlap = createPathOverlap();
  expect(pathsOverlap('src/**/*.ts', 'src/a/*.ts')).toBe(true);
  expect(pathsOverlap('src', 'src/a.ts')).toBe(true);
  expect(pathsOverlap('src/a', 'src/ab')).toBe(false);
});

test('[SC3] [GI18] where case counts, a file is held under its own spelling alone', () => {
  const exact = { ...claim('ada', 'src/Makefile', '*.MD'), case_sensitive: true as const };
  expect(owners([exact], 'src/Makefile', 'file')).toEqual(['ada']);
  expect(owners([exact], 'src/makefile', 'file')).toEqual([]);
  expect(owners([exact], 'readme.md', 'file')).toEqual(['ada']);
  expect(owners([exact], 'src', 'tree')).toEqual(['ada']);
  expect(owners([exact], 'SRC', 'tree')).toEqual([]);
  expect(owners([claim('ada', 'src/Makefile')], 'SRC', 'tree')).toEqual(['ada']);
});
