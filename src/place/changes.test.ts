import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  tempFolder,
  write,
} from '../../test/place/real-repository.ts';
import {
  changedByMerge,
  changedInCommit,
  changedOnBranch,
  stagedChanges,
  uncommittedChanges,
} from './changes.ts';

afterEach(() => void vi.unstubAllEnvs());

const ODD = [
  'two\nlines',
  'with "quotes"',
  "l'été ☂.ts",
  '-rf',
  ' spaced ',
  'tab\there',
  'back\\slash',
];

test('[GI10] a root commit changed all it holds, and any name is itself', async () => {
  const root = initRepository(tempFolder());
  commit(root, Object.fromEntries(ODD.map((name) => [name, 'x'])));
  const changed = await changedInCommit(await repositoryAt(root));
  expect([...(changed as string[])].sort()).toEqual(ODD.toSorted());
});

test('[GI10] a rename counts on both sides, and a deletion counts', async () => {
  const root = initRepository(tempFolder());
  commit(root, { 'old.ts': 'the same text\n'.repeat(50), gone: 'x', kept: 'x' });
  git(root, 'mv', 'old.ts', 'new.ts');
  rmSync(join(root, 'gone'));
  git(root, 'config', 'diff.renames', 'copies');
  git(root, 'config', 'diff.relative', 'true');
  git(root, 'add', '-A');
  const repository = await repositoryAt(root);
  expect(await stagedChanges(repository)).toEqual(['gone', 'new.ts', 'old.ts']);
  commit(root, {});
  expect(await changedInCommit(repository)).toEqual(['gone', 'new.ts', 'old.ts']);
});

test('[GI10] a merge counts as what it brought to its first parent', async () => {
  const root = initRepository(tempFolder());
  commit(root, { base: 'x' });
  git(root, 'checkout', '-q', '-b', 'side');
  commit(root, { theirs: 'x', 'sub/more': 'x' });
  git(root, 'checkout', '-q', 'main');
  commit(root, { ours: 'x' });
  git(root, 'merge', '-q', '--no-edit', 'side');
  const repository = await repositoryAt(root);
  expect(await changedByMerge(repository)).toEqual(['sub/more', 'theirs']);
  expect(await changedInCommit(repository)).toEqual(['sub/more', 'theirs']);
  expect(await changedInCommit(repository, 'HEAD^1')).toEqual(['ours']);
});

test('[GI10] a merge that only moved forward brought all its commits', async () => {
  const root = initRepository(tempFolder());
  commit(root, { base: 'x' });
  git(root, 'checkout', '-q', '-b', 'side');
  commit(root, { one: 'x' });
  commit(root, { two: 'x' });
  git(root, 'checkout', '-q', 'main');
  git(root, 'merge', '-q', '--ff-only', 'side');
  expect(await changedByMerge(await repositoryAt(root))).toEqual(['one', 'two']);
});

test('[GI10] what is staged before the first commit, and in an index of its own', async () => {
  const root = initRepository(tempFolder());
  write(root, 'a', 'x');
  git(root, 'add', 'a');
  const repository = await repositoryAt(root);
  expect(await stagedChanges(repository)).toEqual(['a']);
  const empty = join(root, '.git', 'another-index');
  expect(await stagedChanges(repository, empty)).toEqual([]);
});

test('[GI10] a branch changed what it did since it left its base', async () => {
  const root = initRepository(tempFolder());
  commit(root, { base: 'x' });
  git(root, 'checkout', '-q', '-b', 'side');
  commit(root, { mine: 'x' });
  git(root, 'checkout', '-q', 'main');
  commit(root, { 'later on main': 'x' });
  const repository = await repositoryAt(root);
  const ask = (base: string, branch: string) => changedOnBranch(repository, { base, branch });
  expect(await ask('main', 'side')).toEqual(['mine']);
  expect(await ask('side', 'main')).toEqual(['later on main']);
  for (const bad of ['nowhere', '', '--all', '-rf', 'a\nb']) {
    expect(await ask('main', bad)).toMatchObject({ problem: 'git.unknown-revision' });
  }
  git(root, 'checkout', '-q', '--orphan', 'island');
  commit(root, { alone: 'x' });
  expect(await ask('main', 'island')).toMatchObject({ problem: 'git.unknown-revision' });
});

test('[GI10] without a commit, or without a merge, there is nothing to ask about', async () => {
  const repository = await repositoryAt(initRepository(tempFolder()));
  expect(await changedInCommit(repository)).toMatchObject({ problem: 'git.unknown-revision' });
  expect(await changedByMerge(repository)).toMatchObject({ problem: 'git.unknown-revision' });
});

test('[GI21] what is changed or new and in no commit yet counts, and what is ignored does not', async () => {
  const root = initRepository(tempFolder());
  commit(root, { kept: 'x', edited: 'x', '.gitignore': 'made\n' });
  for (const name of ['edited', 'fresh', 'made']) write(root, name, 'other text');
  const found = await uncommittedChanges(await repositoryAt(root));
  expect([...(found as string[])].sort()).toEqual(['edited', 'fresh']);
});

test('[GI11] more than the bound is a problem, not a shorter list', async () => {
  const root = initRepository(tempFolder());
  commit(root, Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`file-${i}`, 'x'])));
  const repository = await repositoryAt(root);
  expect(await changedInCommit(repository)).toHaveLength(200);
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  write(
    root,
    'bin/git',
    `#!/bin/sh\ncase "$*" in *diff-tree*) exec yes;; esac\nexec ${real} "$@"\n`,
  );
  chmodSync(join(root, 'bin/git'), 0o755);
  vi.stubEnv('PATH', `${join(root, 'bin')}${delimiter}${process.env.PATH}`);
  expect(await changedInCommit(repository)).toMatchObject({ problem: 'git.too-much' });
});
