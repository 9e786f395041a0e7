import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  tempFolder,
} from '../../test/place/real-repository.ts';
import { changedOnBranch } from './changes.ts';
import { type BranchClaim, conflictsExit, findConflicts } from './conflicts.ts';
import { problem } from './problem.ts';

const overlaps = (left: string, right: string) =>
  left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);

function claim(owner: string, more: Partial<BranchClaim> = {}): BranchClaim {
  return {
    id: `claim-${owner}`,
    owner,
    repository: '/r/.git',
    worktree: `/r-${owner}`,
    branch: owner,
    base: 'main',
    paths: ['src'],
    ...more,
  };
}

async function pairs(...claims: BranchClaim[]): Promise<string[]> {
  const { conflicts } = await findConflicts(claims, { overlaps });
  return conflicts.map(({ left, right, base }) => `${left.owner}+${right.owner} on ${base}`);
}

test('[GI20] different agents on different branches towards one base collide where their paths do', async () => {
  const report = await findConflicts([claim('ada'), claim('bo', { paths: ['src/a.ts', 'docs'] })], {
    overlaps,
  });
  expect(report.conflicts).toMatchObject([
    { base: 'main', overlaps: [{ left: 'src', right: 'src/a.ts' }], changed: null, reason: null },
  ]);
  expect(conflictsExit(report)).toBe(2);
  expect(await pairs(claim('ada'), claim('bo', { paths: ['docs'] }))).toEqual([]);
  expect(await pairs(claim('ada'), claim('bo', { paths: [] }))).toEqual(['ada+bo on main']);
  expect(conflictsExit({ conflicts: [], cleared: 0 })).toBe(0);
});

test('[GI20] one agent, unrelated repositories, one worktree or other bases do not collide', async () => {
  expect(await pairs(claim('ada'), claim('ada', { id: 'two', branch: 'other' }))).toEqual([]);
  expect(await pairs(claim('ada'), claim('bo', { repository: '/other/.git' }))).toEqual([]);
  const shared = { worktree: '/r', branch: 'main' };
  expect(await pairs(claim('ada', shared), claim('bo', shared))).toEqual([]);
  expect(await pairs(claim('ada'), claim('bo', { base: 'release' }))).toEqual([]);
});

test('[GI20] one branch in two worktrees, clones, and a branch built upon another do collide', async () => {
  const same = { branch: 'topic' };
  expect(await pairs(claim('ada', same), claim('bo', same))).toEqual(['ada+bo on main']);
  const clone = { origin: 'example.org/app', branch: 'topic' };
  const other = { ...clone, repository: '/clone/.git', worktree: '/r-ada' };
  expect(await pairs(claim('ada', clone), claim('bo', other))).toEqual(['ada+bo on main']);
  expect(await pairs(claim('ada'), claim('bo', { base: 'ada' }))).toEqual(['ada+bo on ada']);
});

test('[GI21] a base nobody knows is kept, and says why', async () => {
  const report = await findConflicts([claim('ada'), claim('bo', { base: null })], { overlaps });
  expect(report.conflicts).toMatchObject([
    { base: null, reason: 'the base of claim claim-bo is not known' },
  ]);
});

test('[GI21] with real branches only what both changed counts; an unknown branch is kept', async () => {
  const root = initRepository(join(tempFolder(), 'app'));
  commit(root, { 'src/a.ts': 'a', 'src/b.ts': 'b', 'docs/x': 'x' });
  const branch = (name: string, files: Record<string, string>) => {
    git(root, 'checkout', '-q', '-b', name, 'main');
    commit(root, files);
  };
  branch('ada', { 'src/a.ts': 'ada', 'docs/x': 'ada' });
  branch('bo', { 'src/a.ts': 'bo', 'docs/x': 'bo' });
  branch('cy', { 'src/b.ts': 'cy' });
  const repository = await repositoryAt(root);
  const asked: string[] = [];
  const changedBy = async ({ branch, base }: BranchClaim, since: string | null) => {
    if (since === null) asked.push(branch ?? '');
    if (branch === null || base === null)
      return problem('git.detached', 'on no branch', 'make one');
    return changedOnBranch(repository, { base: since ?? base, branch });
  };
  const claims = [claim('ada'), claim('bo'), claim('cy'), claim('di', { branch: 'gone' })];
  const { conflicts, cleared } = await findConflicts(claims, { overlaps, changedBy });
  const said = conflicts.map(({ left, right, changed, reason }) => [
    left.owner,
    right.owner,
    changed,
    reason,
  ]);
  const unknown = 'there is no commit "gone" here';
  expect(said).toEqual([
    ['ada', 'bo', ['src/a.ts'], null],
    ['ada', 'di', null, unknown],
    ['bo', 'di', null, unknown],
    ['cy', 'di', null, unknown],
  ]);
  expect(cleared).toBe(2);
  // Git is asked once for each claim, not once for each pair.
  expect(asked.toSorted()).toEqual(['ada', 'bo', 'cy', 'gone']);
});

test('[GI21] what one side has committed on the base, or merged into it, still collides', async () => {
  const root = initRepository(join(tempFolder(), 'app'));
  commit(root, { 'src/a.ts': 'a', 'src/b.ts': 'b' });
  git(root, 'checkout', '-q', '-b', 'bo', 'main');
  commit(root, { 'src/a.ts': 'bo' });
  git(root, 'checkout', '-q', '-b', 'ada', 'main');
  commit(root, { 'src/a.ts': 'ada' });
  git(root, 'checkout', '-q', 'main');
  git(root, 'merge', '-q', '--ff-only', 'ada');
  const repository = await repositoryAt(root);
  const changedBy = ({ branch, base }: BranchClaim, since: string | null) =>
    changedOnBranch(repository, { base: since ?? base ?? '', branch: branch ?? '' });
  const met = async (...claims: BranchClaim[]) => {
    const { conflicts } = await findConflicts(claims, { overlaps, changedBy });
    return conflicts.map(({ changed, reason }) => changed ?? reason);
  };
  expect(await met(claim('bo'), claim('cy', { branch: 'main' }))).toEqual([['src/a.ts']]);
  expect(await met(claim('bo'), claim('ada'))).toEqual([['src/a.ts']]);
  const clone = { repository: '/clone/.git', origin: 'host/app', branch: 'main' };
  const apart = await met(claim('bo', { origin: 'host/app' }), claim('cy', clone));
  expect(apart).toEqual(['cy works on the base itself, in another clone']);
});
