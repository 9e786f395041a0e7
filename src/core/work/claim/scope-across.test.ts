/** One file under two labels: a repository that is made, or taken away, below a claim. */
import { expect, test } from 'vitest';
import { createClaimStory } from '../../../testing/claim-story.ts';
import type { Scope } from './scope.ts';
import { pathsFrom } from './scope-across.ts';

const at = (worktree: string, ...paths: string[]): Scope => ({ worktree, branch: null, paths });
const [A, FILE] = ['/r', 'src/a.ts'];

const MEETING: readonly (readonly [Scope, Scope])[] = [
  [at(A, FILE), at('/r/src', 'a.ts')],
  [at(A, FILE), at('/r/src', '*.ts')],
  [at(A, FILE), at('/r/src')],
  [at(A, 'src/'), at('/r/src', 'deep/b.ts')],
  [at(A, 'src/x/y.ts'), at('/r/src', 'x/')],
  [at(A, 'src/A.ts'), at('/r/src', 'a.ts')],
  [at('/', 'r/src/a.ts'), at('/r/src', 'a.ts')],
  [at('/', 'r/a.ts'), at('/r')],
];
const APART: readonly (readonly [Scope, Scope])[] = [
  [at(A, FILE), at('/r/src', 'b.ts')],
  // What a repository nested in it holds is none of a claim's that does not name it.
  [at(A), at('/r/src', 'a.ts')],
  [at(A, '**/*.ts'), at('/r/src', 'a.ts')],
  [at(A, 'src/'), at('/r/src/vendor', 'a.ts')],
  [at('/', 'r/'), at('/r/src', 'a.ts')],
  [at(A, FILE), at('/r/sr', 'c/a.ts')],
  [at(A, FILE), at('/rr/src', 'a.ts')],
  [at('r', FILE), at('r/src', 'a.ts')],
];

test.each([
  ...MEETING.map((pair) => [...pair, true] as const),
  ...APART.map((pair) => [...pair, false] as const),
])('[SC8] %j and %j meet, whoever comes first: %s', (one, other, isMet) => {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const story = createClaimStory();
    story.ask('ada', 'claim.take', { id: 'hers', scope: first });
    const answer = story.do('bob', 'claim.take', { id: 'his', scope: second });
    expect('refused' in answer && answer.refused).toBe(isMet && 'claim.overlap');
    // And in terms of the other worktree, which the guard asks about.
    const seen = pathsFrom(second.worktree, first);
    if (isMet) expect(seen).not.toBeNull();
  }
});

test('[SC8] who waits for the file under the other label is next when it is free', () => {
  const story = createClaimStory();
  story.ask('ada', 'claim.take', { id: 'hers', scope: at(A, FILE) });
  const wish = { id: null, scope: at('/r/src', 'a.ts') };
  expect(story.ask('bob', 'claim.wait', wish)).toMatchObject({ isReserved: false });
  story.release('ada', 'hers');
  expect(story.events.at(-1)).toMatchObject({ type: 'wait.reserved', agent: 'bob' });
  const late = story.do('eve', 'claim.take', { id: 'late', scope: at(A, FILE) });
  expect(late).toMatchObject({ refused: 'claim.reserved' });
});

test('[SC8] a scope is told in the terms of a worktree above or below', () => {
  expect(pathsFrom('/r/src', at(A, FILE, 'b.ts'))).toEqual(['a.ts']);
  expect(pathsFrom('/r/src', at(A, 'src/'))).toEqual([]);
  expect(pathsFrom('/r/src', at(A, 'b.ts'))).toBeNull();
  expect(pathsFrom('/r/src', at(A))).toBeNull();
  expect(pathsFrom(A, at('/r/src', 'a.ts', '*.js'))).toEqual(['src/a.ts', 'src/*.js']);
  expect(pathsFrom(A, at('/r/src'))).toEqual(['src/']);
  expect(pathsFrom('/s', at(A, FILE))).toBeNull();
});
