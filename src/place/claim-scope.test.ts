/** Where paths really lie: links, aliases by case and Unicode, files yet to be made. Real folders. */
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../../test/e2e/running-hub.ts';
import { isRefusal } from '../core/law/decider.ts';
import { type PlacedScope, placeScope } from './claim-scope.ts';

async function groundOf(worktree: string, paths: readonly string[]): Promise<PlacedScope> {
  const placed = await placeScope(worktree, paths);
  if (isRefusal(placed)) throw new Error(placed.refused);
  return placed;
}
/** Where what is placed lies, whatever part of it is the worktree's label. */
async function placesOf(worktree: string, paths: readonly string[]): Promise<string[]> {
  const placed = await groundOf(worktree, paths);
  return placed.paths.map((path) => join(placed.worktree, path));
}

/** As `git init` leaves a folder, as far as it matters. */
async function makeRepository(top: string): Promise<void> {
  await mkdir(join(top, '.git/objects'), { recursive: true });
  await writeFile(join(top, '.git/HEAD'), 'ref: refs/heads/main\n');
}

let root: string;
let tree: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'synod-place-')));
  tree = join(root, 'tree');
  await mkdir(join(tree, 'src/lib'), { recursive: true });
  await writeFile(join(tree, 'src/lib/a.ts'), '');
  await symlink(tree, join(root, 'alias'));
  await symlink('src/lib', join(tree, 'lib'));
  await symlink('src/lib/a.ts', join(tree, 'a-link.ts'));
  await symlink('/etc', join(tree, 'outside'));
  await symlink('.', join(tree, 'here'));
  await symlink('nowhere', join(tree, 'broken'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('the real place of a claim', () => {
  test('[WK3] a worktree is known by its real path; what is not here keeps its name', async () => {
    for (const name of [join(root, 'alias'), `${tree}/`, join(root, 'alias/src/..')]) {
      expect(await placesOf(name, [])).toEqual([`${tree}/`]);
    }
    for (const far of ['/no/such/tree', '/no/such/tree/', '/no//such/./tree']) {
      expect(await groundOf(far, ['a'])).toEqual({ worktree: '/no/such/tree', paths: ['a'] });
    }
    expect(await groundOf('a label', [])).toEqual({ worktree: 'a label', paths: [] });
    expect(await placeScope('/no/such/../tree', [])).toMatchObject({ refused: 'scope.invalid' });
  });

  test.each([
    ['a file', 'src/lib/a.ts', 'src/lib/a.ts'],
    ['a file behind a linked folder', 'lib/a.ts', 'src/lib/a.ts'],
    ['a linked file', 'a-link.ts', 'src/lib/a.ts'],
    ['a file yet to be made in a linked folder', 'lib/new/b.ts', 'src/lib/new/b.ts'],
    ['a glob behind a linked folder', 'lib/**/*.ts', 'src/lib/**/*.ts'],
    ['a glob at the root', '*.ts', '*.ts'],
    ['a link to where it lies', 'here/src/lib/a.ts', 'src/lib/a.ts'],
    ['a link to nothing, where it would be made', 'broken', 'nowhere'],
  ])('[WK3] %s: %s lies at %s', async (_, path, place) => {
    expect(await placesOf(tree, [path])).toEqual([join(tree, place)]);
  });

  test.each([
    ['a link that leads out', 'outside/passwd', 'scope.escape'],
    ['a path that escapes', '../x', 'scope.escape'],
    ['an absolute path elsewhere', '/etc/passwd', 'scope.escape'],
    ['nothing', '', 'scope.invalid'],
  ])('[WK3] %s is refused and never guessed at: %s', async (_, path, refused) => {
    expect(await placeScope(tree, ['src', path])).toMatchObject({ refused });
  });
});

describe('at the door', () => {
  let hub: RunningHub;
  beforeAll(async () => {
    hub = await openRunningHub();
  });
  afterAll(() => hub.close());

  /** Whether bob may take his paths while ada holds hers. */
  async function collide(ada: object, bob: object): Promise<boolean> {
    await hub.ask('ada', 'claims.take', { task_id: 'hers', ...ada });
    const { status } = await hub.post('claims.take', { task_id: 'his', ...bob }, hub.as('bob'));
    for (const [agent, task_id] of [
      ['ada', 'hers'],
      ['bob', 'his'],
    ] as const) {
      await hub.post('claims.release', { task_id }, hub.as(agent));
    }
    return status !== 200;
  }

  test('[WK3] symbolic links, case and Unicode spellings of one file collide', async () => {
    const worktree = tree;
    const pairs: readonly (readonly [string, string])[] = [
      ['src/lib/a.ts', 'lib/a.ts'],
      ['a-link.ts', 'src/lib'],
      ['lib/new.ts', 'src/lib/new.ts'],
      ['lib/*.ts', 'SRC/LIB/A.TS'],
      ['docs/caf\u00e9.md', 'docs/cafe\u0301.md'],
      ['./src//lib/', 'src/lib/a.ts'],
    ];
    for (const [mine, theirs] of pairs) {
      expect(
        await collide({ worktree, paths: [mine] }, { worktree, paths: [theirs] }),
        `${mine} and ${theirs}`,
      ).toBe(true);
    }
    expect(await collide({ worktree, paths: ['src/a'] }, { worktree, paths: ['src/b'] })).toBe(
      false,
    );
  });

  test('[SC3] spellings in another case are two files where the disk says so, and one anywhere else', async () => {
    const isTold = (await groundOf(tree, ['Makefile'])).isExact === true;
    const pair = (worktree: string, mine = 'Makefile', theirs = 'makefile') =>
      collide({ worktree, paths: [mine] }, { worktree, paths: [theirs] });
    expect(await pair(tree)).toBe(!isTold);
    expect(await pair(tree, 'src/Lib/', 'src/lib/a.ts')).toBe(!isTold);
    expect(await pair(tree, 'docs/\u00c4RGER.md', 'docs/\u00e4rger.md')).toBe(!isTold);
    expect(await pair(tree, 'Makefile', 'Makefile')).toBe(true);
    // A glob reaches where nobody looked, and of another machine nothing is known.
    expect(await pair(tree, 'Makefile', 'make*')).toBe(true);
    expect(await pair('/no/such/tree')).toBe(true);
    expect(await pair('a label')).toBe(true);
    const { claim } = await hub.ask('ada', 'claims.take', {
      ...{ task_id: 'case', worktree: tree, paths: ['Makefile'] },
    });
    expect(claim.case_sensitive ?? false).toBe(isTold);
    await hub.ask('ada', 'claims.release', { task_id: 'case' });
  });

  test('[WK3] two names of one worktree are one; two worktrees are two', async () => {
    const paths = ['src'];
    const alias = join(root, 'alias');
    expect(await collide({ worktree: tree, paths }, { worktree: alias, paths })).toBe(true);
    expect(await collide({ worktree: tree, paths }, { worktree: root, paths })).toBe(false);
    expect(await collide({ worktree: tree }, { worktree: alias, paths })).toBe(true);
  });

  test('[WK3] a file has one holder from every folder above it, in git and outside', async () => {
    const repository = join(root, 'repository');
    await makeRepository(repository);
    const places: readonly (readonly [worktree: string, path: string])[] = [
      [join(tree, 'src/lib'), 'a.ts'],
      [tree, 'src/lib/a.ts'],
      [root, 'tree/src/lib/a.ts'],
      ['/', join(root, 'alias/lib/a.ts')],
      [repository, 'new/deep/x'],
      [join(repository, 'new'), 'deep/x'],
      [join(repository, 'new/deep/'), 'x'],
      [join(root, 'unmade'), 'x'],
      [root, 'unmade/x'],
    ];
    const groups = [places.slice(0, 4), places.slice(4, 7), places.slice(7)];
    for (const group of groups) {
      for (const [mine, path] of group) {
        for (const [theirs, same] of group) {
          const pair = `${mine} ${path} and ${theirs} ${same}`;
          const ada = { worktree: mine, paths: [path] };
          expect(await collide(ada, { worktree: theirs, paths: [same] }), pair).toBe(true);
        }
      }
    }
    const whole = { worktree: tree };
    expect(await collide({ worktree: root }, whole)).toBe(true);
    await hub.ask('ada', 'claims.take', { task_id: 'listed', ...whole });
    const listed = async (worktree: string) =>
      (await hub.ask('ada', 'claims.list', { worktree })).claims.length;
    expect(await listed(tree)).toBe(1);
    expect(await listed(join(tree, 'src'))).toBe(1);
    expect(await listed(root)).toBe(1);
    expect(await listed(repository)).toBe(0);
    await hub.ask('ada', 'claims.release', { task_id: 'listed' });
  });

  test('[WK3] what has a second place is refused: a nested repository, a hard link', async () => {
    const outer = join(root, 'outer');
    await makeRepository(outer);
    await makeRepository(join(outer, 'vendor/lib'));
    await writeFile(join(outer, 'vendor/lib/x.ts'), '');
    await writeFile(join(outer, 'one.ts'), '');
    await link(join(outer, 'one.ts'), join(outer, 'two.ts'));
    const refusal = async (worktree: string, path: string) => {
      const wish = { task_id: 'none', worktree, paths: [path] };
      const { status, body } = await hub.post('claims.take', wish, hub.as('bob'));
      return status === 200 ? 'granted' : body.detail.problem;
    };
    for (const path of ['vendor/lib/x.ts', 'vendor/lib', 'vendor/lib/', 'vendor/lib/*.ts']) {
      expect(await refusal(outer, path), path).toBe('path.other-repository');
      expect(await refusal(root, `outer/${path}`), path).toBe('path.other-repository');
    }
    expect(await refusal(root, 'outer')).toBe('path.other-repository');
    expect(await refusal(outer, 'one.ts')).toBe('path.two-names');
    expect(await refusal(outer, 'two.ts')).toBe('path.two-names');
    // A claim covers the files of its own worktree, as git counts them.
    const nested = { worktree: join(outer, 'vendor/lib'), paths: ['x.ts'] };
    expect(await collide({ worktree: outer }, nested)).toBe(false);
  });

  test('[SC8] [WK3] a repository that is made below a claim, or taken away, gives no file a second holder', async () => {
    const top = join(root, 'grown');
    await makeRepository(top);
    await mkdir(join(top, 'src'));
    const src = join(top, 'src');
    const refusal = async (agent: string, worktree: string, paths: string[]) => {
      const wish = { task_id: agent, worktree, paths };
      const { status, body } = await hub.post('claims.take', wish, hub.as(agent));
      return status === 200 ? null : body.detail.reason;
    };
    await hub.ask('ada', 'claims.take', { task_id: 'first', worktree: top, paths: ['src/a.ts'] });
    await makeRepository(src);
    expect(await refusal('bob', src, ['a.ts'])).toBe('claim.overlap');
    expect(await refusal('bob', src, [])).toBe('claim.overlap');
    expect(await refusal('bob', src, ['b.ts'])).toBeNull();
    await rm(join(src, '.git'), { recursive: true });
    expect(await refusal('ada', top, ['src/b.ts'])).toBe('claim.overlap');
  });
});

test('[WK3] a folder is told from a file by looking, whatever its name', async () => {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'synod-ground-')));
  await mkdir(join(top, 'conf.d'));
  await writeFile(join(top, 'a.ts'), '');
  await makeRepository(top);
  expect((await groundOf(top, ['conf.d', 'conf.d/', 'a.ts', 'new.d/', 'new.ts'])).paths).toEqual([
    'conf.d/',
    'conf.d/',
    'a.ts',
    'new.d/',
    'new.ts',
  ]);
  await rm(top, { recursive: true });
});

test('[WK3] a folder of a repository is the repository, with its paths put where they lie', async () => {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'synod-ground-')));
  await makeRepository(top);
  await mkdir(join(top, 'd/deep'), { recursive: true });
  // What only looks like a repository moves no file into another worktree.
  await mkdir(join(top, 'd/.git'));
  expect(await groundOf(join(top, 'd'), ['z', '**/*.ts'])).toMatchObject({
    worktree: top,
    paths: ['d/z', 'd/**/*.ts'],
  });
  const deep = { worktree: top, paths: ['d/deep/'] };
  expect(await groundOf(join(top, 'd/deep'), [])).toMatchObject(deep);
  expect(await groundOf(top, [])).toEqual({ worktree: top, paths: [] });
  await rm(top, { recursive: true });
});

test('[SC7] a real folder with the name of a file is held with all that is in it', async () => {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'synod-ground-')));
  await mkdir(join(top, 'conf.d'));
  const hub = await openRunningHub();
  await hub.ask('ada', 'claims_take', { task_id: 'f1', worktree: top, paths: ['conf.d'] });
  const wish = { task_id: 'f2', worktree: top, paths: ['conf.d/x'] };
  const { body } = await hub.post('claims_take', wish, hub.as('bob'));
  expect(body.detail.reason).toBe('claim.overlap');
  await hub.close();
  await rm(top, { recursive: true });
});
