import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, git, initRepository, tempFolder } from '../../test/place/real-repository.ts';
import { type Ground, placeAnywhere, placeOfPattern, placeOn, readGround } from './place.ts';
import { isProblem } from './problem.ts';
import { DISK, type Disk, resolvePath } from './resolve-path.ts';

async function placeOf(path: string, cwd: string) {
  return placeOn(await groundAt(cwd), path);
}

async function groundAt(cwd: string): Promise<Ground> {
  const ground = await readGround(cwd);
  if (isProblem(ground)) throw new Error(ground.message);
  return ground;
}

function project(): { root: string; app: string } {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  commit(app, { 'src/a.ts': 'a', 'src/deep/b.ts': 'b' });
  return { root, app };
}

test('[GI5] one file has one place, from wherever and however it is named', async () => {
  const { root, app } = project();
  symlinkSync(app, join(root, 'link'));
  symlinkSync('src/deep', join(app, 'short'));
  symlinkSync('src/deep/b.ts', join(app, 'alias.ts'));
  const names: [path: string, cwd: string][] = [
    ['src/deep/b.ts', app],
    ['./src//deep/./b.ts', app],
    ['b.ts', join(app, 'src/deep')],
    ['../deep/b.ts', join(app, 'src/deep')],
    [join(app, 'src/deep/b.ts'), root],
    [join(root, 'link/src/deep/b.ts'), app],
    ['src/deep/b.ts', join(root, 'link')],
    ['short/b.ts', app],
    ['alias.ts', app],
    ['short/../deep/b.ts', app],
  ];
  for (const [path, cwd] of names) {
    const ground = await groundAt(cwd === root ? app : cwd);
    const expected = { worktree: app, path: 'src/deep/b.ts' };
    expect(await placeOn(ground, path), path).toEqual(expected);
  }
});

test('[GI5] a file that is not there yet has its place too, through a dangling link as well', async () => {
  const { app } = project();
  symlinkSync('src/deep', join(app, 'short'));
  symlinkSync('src/later/c.ts', join(app, 'dangling'));
  const path = async (name: string) => ((await placeOf(name, app)) as { path: string }).path;
  expect(await path('short/new/c.ts')).toBe('src/deep/new/c.ts');
  expect(await path('dangling')).toBe('src/later/c.ts');
  expect(await path('no/such/../c.ts')).toBe('no/c.ts');
  expect(await path('.')).toBe('.');
  // What git or rm names is the link, not what it leads to.
  const kept = await placeOn(await groundAt(app), 'dangling', { isFollowed: false });
  expect(kept).toMatchObject({ path: 'dangling' });
});

test('[GI5] worktrees are told apart, and all that is outside git is one', async () => {
  const { root, app } = project();
  git(app, 'worktree', 'add', '-q', '-b', 'x', join(root, 'tree'));
  const [one, two] = [
    await placeOf('src/a.ts', app),
    await placeOf('src/a.ts', join(root, 'tree')),
  ];
  expect(one).toMatchObject({ worktree: app, path: 'src/a.ts' });
  expect(two).toMatchObject({ worktree: join(root, 'tree') });
  mkdirSync(join(root, 'plain'));
  const plain = { worktree: '/', path: join(root, 'plain/x').slice(1) };
  expect(await placeOf('x', join(root, 'plain'))).toEqual(plain);
  expect(await placeOf('plain/x', root)).toEqual(plain);
});

test('[GI7] what is outside, in a nested repository, or in the folder of git is refused', async () => {
  const { root, app } = project();
  initRepository(join(app, 'vendor/lib'));
  mkdirSync(join(app, 'odd/.git'), { recursive: true });
  mkdirSync(join(app, 'file'));
  writeFileSync(join(app, 'file/.git'), 'gitdir: nowhere\n');
  symlinkSync(root, join(app, 'out'));
  symlinkSync('loop', join(app, 'loop'));
  const code = async (path: string) => {
    const place = await placeOf(path, app);
    return isProblem(place) ? place.problem : place.path;
  };
  expect(await code('../other')).toBe('path.escapes');
  expect(await code('/etc/passwd')).toBe('path.escapes');
  expect(await code('out/x')).toBe('path.escapes');
  expect(await code('src/../../app2/x')).toBe('path.escapes');
  expect(await code('vendor/lib/x.ts')).toBe('path.other-repository');
  expect(await code('vendor/lib')).toBe('vendor/lib');
  expect(await code('odd/x')).toBe('odd/x');
  expect(await code('file/x')).toBe('file/x');
  expect(await code('.git/config')).toBe('path.git-internal');
  expect(await code('loop/x')).toBe('path.loop');
  expect(await code('')).toBe('path.invalid');
  expect(await code('a\0b')).toBe('path.invalid');
  expect(await code('x'.repeat(5_000))).toBe('path.invalid');
  expect(await code('x'.repeat(300))).toBe('path.invalid');
});

test('[GI7] the guard finds the worktree a path is really in', async () => {
  const { root, app } = project();
  git(app, 'worktree', 'add', '-q', '-b', 'x', join(root, 'tree'));
  const ground = await groundAt(app);
  const other = { worktree: join(root, 'tree'), path: 'src/a.ts' };
  expect(await placeAnywhere(ground, '../tree/src/a.ts')).toEqual(other);
  expect(await placeAnywhere(ground, join(root, 'tree'))).toMatchObject({ ...other, path: '.' });
  expect(await placeAnywhere(ground, 'src/a.ts')).toMatchObject({
    worktree: app,
    path: 'src/a.ts',
  });
  const loose = { worktree: '/', path: join(root, 'loose.txt').slice(1) };
  expect(await placeAnywhere(ground, join(root, 'loose.txt'))).toEqual(loose);
});

test('[GI5] a pattern is placed by what stands before its first wildcard', async () => {
  const { root, app } = project();
  symlinkSync('src/deep', join(app, 'short'));
  const path = async (pattern: string, cwd: string) => {
    const place = await placeOfPattern(await groundAt(cwd), pattern);
    return isProblem(place) ? place.problem : place.path;
  };
  expect(await path('**/*.ts', app)).toBe('**/*.ts');
  expect(await path('*.ts', join(app, 'src'))).toBe('src/*.ts');
  expect(await path('../{a,b}/**', join(app, 'src'))).toBe('{a,b}/**');
  expect(await path('short/*.ts', app)).toBe('src/deep/*.ts');
  expect(await path(`${app}/src/[ab].ts`, app)).toBe('src/[ab].ts');
  expect(await path(`${root}/*`, app)).toBe('path.escapes');
  expect(await path('/*', app)).toBe('path.escapes');
  expect(await path('src/*/../../..', app)).toBe('path.invalid');
});

/** The real disk behind a layer that takes any letter case and Unicode form, as macOS and Windows do. */
function foldingDisk(): Disk {
  const real = async (path: string): Promise<string> => {
    if (path === dirname(path)) return path;
    const folder = await real(dirname(path));
    const fold = (name: string) => name.normalize('NFC').toLowerCase();
    const names = await DISK.readdir(folder).catch(() => []);
    const found = names.find((name) => fold(name) === fold(basename(path)));
    return join(folder, found ?? basename(path));
  };
  return {
    lstat: async (path) => lstat(await real(path)),
    readdir: async (path) => DISK.readdir(await real(path)),
    readlink: async (path) => DISK.readlink(await real(path)),
    realpath: DISK.realpath,
  };
}

test('[GI6] where two spellings are one file, the one on disk is its name', async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'Src'));
  writeFileSync(join(root, 'Src', 'Café.ts'), '');
  const options = { disk: foldingDisk() };
  for (const spelling of ['src/café.TS', 'SRC/Cafe\u0301.ts', 'Src/Café.ts']) {
    expect(await resolvePath(spelling, root, options)).toBe(join(root, 'Src', 'Café.ts'));
  }
  expect(await resolvePath('src/new.ts', root, options)).toBe(join(root, 'Src', 'new.ts'));
});

test('[GI6] where two spellings are two names, each is itself, hard links too', async () => {
  const root = tempFolder();
  writeFileSync(join(root, 'readme'), '');
  linkSync(join(root, 'readme'), join(root, 'README'));
  expect(await resolvePath('README', root)).toBe(join(root, 'README'));
  expect(await resolvePath('readme', root)).toBe(join(root, 'readme'));
});
