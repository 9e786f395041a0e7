import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  tempFolder,
} from '../../test/place/real-repository.ts';
import { parseOrigin, readOrigin } from './origin.ts';
import { readRepository } from './repository.ts';
import { runGit } from './run-git.ts';

afterEach(() => void vi.unstubAllEnvs());

test('[GI3] worktrees and sub-directories of one repository share its key, and tell themselves apart', async () => {
  const root = tempFolder();
  const main = initRepository(join(root, 'app'));
  const head = commit(main, { 'src/a.ts': 'a' });
  git(main, 'worktree', 'add', '-q', '-b', 'feature/x', join(root, 'elsewhere'));
  symlinkSync(main, join(root, 'link'));
  const [one, below, linked, other] = await Promise.all(
    [main, join(main, 'src'), join(root, 'link', 'src'), join(root, 'elsewhere')].map(repositoryAt),
  );
  expect(one).toEqual({
    toplevel: main,
    commonDir: join(main, '.git'),
    gitDir: join(main, '.git'),
    project: 'app',
    branch: 'main',
    head,
    notes: [],
  });
  expect(below).toEqual(one);
  expect(linked).toEqual(one);
  expect(other).toMatchObject({
    toplevel: join(root, 'elsewhere'),
    commonDir: join(main, '.git'),
    project: 'app',
    branch: 'feature/x',
  });
});

test('[GI3] two repositories, a clone and a submodule have keys of their own', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  commit(app, { a: 'a' });
  git(root, 'clone', '-q', app, 'clone');
  git(
    app,
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    join(root, 'clone'),
    'sub',
  );
  const keys = await Promise.all(
    [app, join(root, 'clone'), join(app, 'sub')].map(
      async (at) => (await repositoryAt(at)).commonDir,
    ),
  );
  expect(new Set(keys).size).toBe(3);
  expect((await repositoryAt(join(app, 'sub'))).project).toBe('sub');
});

test('[GI1] a repository without commits, and one on no branch, are allowed and said', async () => {
  const root = initRepository(join(tempFolder(), 'new'));
  const unborn = await repositoryAt(root);
  expect(unborn).toMatchObject({ branch: 'main', head: null });
  expect(unborn.notes.map(({ problem }) => problem)).toEqual(['git.unborn']);
  const head = commit(root, { a: 'a' });
  git(root, 'checkout', '-q', '--detach');
  const detached = await repositoryAt(root);
  expect(detached).toMatchObject({ branch: null, head });
  expect(detached.notes.map(({ problem }) => problem)).toEqual(['git.detached']);
});

test('[GI1] a bare repository is refused, and a worktree of it is not', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  commit(app, { a: 'a' });
  git(root, 'clone', '-q', '--bare', app, 'shared.git');
  const bare = await readRepository(join(root, 'shared.git'));
  expect(bare).toMatchObject({ problem: 'git.bare', remedy: expect.stringContaining('worktree') });
  git(join(root, 'shared.git'), 'worktree', 'add', '-q', '-b', 'x', join(root, 'tree'));
  expect(await repositoryAt(join(root, 'tree'))).toMatchObject({
    project: 'shared',
    commonDir: join(root, 'shared.git'),
  });
});

test.each([
  ['a folder in no repository', (root: string) => root, 'git.not-a-repository'],
  ['a folder that is not there', (root: string) => join(root, 'gone'), 'git.no-such-folder'],
  [
    'the folder of git itself',
    (root: string) => join(initRepository(root), '.git'),
    'git.inside-git-folder',
  ],
])('[GI1] %s is refused with a remedy', async (_, make, code) => {
  const found = await readRepository(make(tempFolder()));
  expect(found).toMatchObject({ problem: code, remedy: expect.stringMatching(/\w/) });
});

test('[GI1] without the binary the refusal says so', async () => {
  const root = initRepository(tempFolder());
  vi.stubEnv('PATH', join(root, 'nowhere'));
  const found = await readRepository(root);
  expect(found).toMatchObject({
    problem: 'git.missing',
    remedy: expect.stringContaining('install'),
  });
});

test('[GI2] what a hook is told of another repository does not count', async () => {
  const root = tempFolder();
  const one = initRepository(join(root, 'one'));
  const two = initRepository(join(root, 'two'));
  const env = { GIT_DIR: join(two, '.git'), GIT_WORK_TREE: two, GIT_PREFIX: 'x/' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(await readRepository(one)).toMatchObject({ toplevel: one });
});

test('[GI3] a folder with a newline in its name is itself', async () => {
  const root = initRepository(join(tempFolder(), 'two\nlines "quoted" é'));
  expect(await repositoryAt(root)).toMatchObject({
    toplevel: root,
    project: 'two\nlines "quoted" é',
  });
});

test('[GI2] a git that hangs, and one that floods, are ended', async () => {
  const root = tempFolder();
  const path = process.env.PATH;
  const fake = (name: string, script: string): void => {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'git'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, name, 'git'), 0o755);
    vi.stubEnv('PATH', `${join(root, name)}${delimiter}${path}`);
  };
  fake('hangs', 'exec sleep 600');
  const hung = await runGit(root, ['status'], { timeoutMs: 100 });
  expect(hung).toMatchObject({ problem: 'git.timeout' });
  fake('floods', 'exec yes');
  const flood = await runGit(root, ['log'], { outputBytesMax: 100_000 });
  expect(flood).toMatchObject({ problem: 'git.too-much' });
});

test('[GI4] clones of one origin share its name, and no credential is in it', async () => {
  const same = [
    'https://ada:s3cret@Example.org/team/app.git',
    'git@example.org:team/app.git',
    'ssh://git@example.org/team/app',
    'https://example.org/team/app/',
  ];
  expect(new Set(same.map(parseOrigin))).toEqual(new Set(['example.org/team/app']));
  for (const local of ['/srv/app.git', '../app', 'C:\\code\\app', 'file:///srv/app', '']) {
    expect(parseOrigin(local)).toBeNull();
  }
  const root = initRepository(tempFolder());
  expect(await readOrigin(await repositoryAt(root))).toBeNull();
  git(root, 'remote', 'add', 'origin', same[0] as string);
  expect(await readOrigin(await repositoryAt(root))).toBe('example.org/team/app');
});
