import { expect, test } from 'vitest';
import { type Claim, claimsTree, PLACES_MAX, type Place } from './claims-tree.ts';

const claim = (owner: string, worktree: string, ...paths: string[]): Claim => ({
  ...{ task_id: `${owner}-${paths.join()}`, owner, worktree, paths, note: '', status: 'working' },
  ...{ data_ref: '', branch: null, epoch: 1, version: 0, checkpoint: null, git: null },
  ...{ offered_to: null, claimed_at: 0, lease_expires_at: 60 },
});
const told = ({ name, claims, places }: Place): unknown => [
  name,
  claims.map(({ owner }) => owner),
  places.map(told),
];

test('files stand in their folders, and a folder that leads nowhere else is on one line', () => {
  const tree = claimsTree([
    claim('ada', '/repo', 'src/core/law/state.ts', 'docs'),
    claim('bob', '/repo', 'src/core/talk/**/*.ts', 'src/core/law/state.ts'),
  ]);
  expect(tree.map(({ label }) => label)).toEqual(['/repo']);
  expect(tree[0]?.places.map(told)).toEqual([
    ['docs', ['ada'], []],
    [
      'src/core',
      [],
      [
        ['law/state.ts', ['ada', 'bob'], []],
        ['talk/**/*.ts', ['bob'], []],
      ],
    ],
  ]);
});

test('all of a worktree stands at its root, and work without files comes last', () => {
  const tree = claimsTree([claim('ada', ''), claim('bob', '/b'), claim('cat', '/a', 'x')]);
  expect(tree.map(({ label, claims }) => [label, claims.map(({ owner }) => owner)])).toEqual([
    ['/a', []],
    ['/b', ['bob']],
    ['', ['ada']],
  ]);
});

test('ten thousand paths are not drawn, and it says how many are left out', () => {
  const paths = Array.from({ length: 10_000 }, (_, i) => `f${i}`);
  const [tree] = claimsTree([claim('ada', '/a', ...paths)]);
  expect(tree?.places).toHaveLength(PLACES_MAX);
  expect(tree?.left).toBe(10_000 - PLACES_MAX);
});
