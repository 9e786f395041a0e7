import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  tempFolder,
} from '../../test/place/real-repository.ts';
import { claimsToRelease, type GitClaim, type ReleaseTrigger } from './auto-release.ts';
import { changedByMerge, changedInCommit } from './changes.ts';
import { isProblem, type Problem } from './problem.ts';

function must(changes: readonly string[] | Problem): readonly string[] {
  if (isProblem(changes)) throw new Error(changes.message);
  return changes;
}

test('[GI22] a commit ends what it touched in its worktree; a merge what it brought to the base', async () => {
  const root = tempFolder();
  const main = initRepository(join(root, 'app'));
  commit(main, { 'src/a.ts': 'a', 'docs/x': 'x' });
  git(main, 'worktree', 'add', '-q', '-b', 'topic', join(root, 'tree'));
  const tree = join(root, 'tree');
  const claim = (
    id: string,
    on: ReleaseTrigger | 'manual',
    more: Partial<GitClaim> = {},
  ): GitClaim => ({
    task_id: id,
    owner: 'ada',
    paths: ['src'],
    lease_expires_at: 1,
    epoch: 1,
    worktree: tree,
    branch: 'topic',
    git: { repository: join(main, '.git'), base: 'main', auto_release_on: on },
    ...more,
  });
  const claims = [
    claim('on-commit', 'commit'),
    claim('on-merge', 'merge'),
    claim('by-hand', 'manual'),
    claim('of-bo', 'commit', { owner: 'bo' }),
    claim('elsewhere', 'commit', { paths: ['docs'] }),
    claim('all-of-it', 'commit', { paths: [] }),
    claim('other-tree', 'commit', { worktree: main }),
    claim('no-git', 'commit', { git: null }),
  ];
  const ended = async (cwd: string, trigger: ReleaseTrigger) => {
    const repository = await repositoryAt(cwd);
    const changes = trigger === 'commit' ? changedInCommit(repository) : changedByMerge(repository);
    const what = { trigger, repository, changed: must(await changes), me: 'ada' };
    return claimsToRelease(claims, what).map(({ task_id: id }) => id);
  };
  commit(tree, { 'src/a.ts': 'changed' });
  expect(await ended(tree, 'commit')).toEqual(['on-commit', 'all-of-it']);
  commit(main, { 'src/news.ts': 'news' });
  // News from the base come to the branch: the work goes on.
  git(tree, 'merge', '-q', '--no-edit', 'main');
  expect(await ended(tree, 'merge')).toEqual([]);
  git(main, 'merge', '-q', '--no-edit', 'topic');
  expect(await ended(main, 'merge')).toEqual(['on-merge']);
});
