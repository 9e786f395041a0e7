/** Where letters in another case name another file: asked of the disk, folder by folder. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tellsCase } from './letter-case.ts';
import type { Disk } from './resolve-path.ts';

/** A disk that folds case in some folders; files by their full path. */
function createDisk(files: readonly string[], folding: RegExp): Pick<Disk, 'lstat' | 'readdir'> {
  const spelt = (path: string): string | undefined => {
    const at = path.lastIndexOf('/');
    const isFolding = folding.test(path.slice(0, at) || '/');
    return files.find((file) =>
      isFolding ? file.toLowerCase() === path.toLowerCase() : file === path,
    );
  };
  return {
    async lstat(path) {
      const found = spelt(path);
      if (found === undefined) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
      return { dev: 1, ino: files.indexOf(found), isSymbolicLink: () => false };
    },
    async readdir(folder) {
      const inside = files.filter((file) => file.startsWith(`${folder}/`));
      return [...new Set(inside.map((file) => file.slice(folder.length + 1).split('/')[0] ?? ''))];
    },
  };
}

const FILES = ['/w', '/w/.git', '/w/src', '/w/src/a.ts', '/w/empty', '/w/123', '/w/123/4'];

test.each([
  ['a disk that tells case', /^$/, 'Makefile', true],
  ['a file that is there', /^$/, 'src/a.ts', true],
  ['a folder yet to be made', /^$/, 'new/deep/Makefile', true],
  ['an empty folder, which tells nothing', /^$/, 'empty/Makefile', false],
  ['a folder with nothing but digits in it', /^$/, '123/Makefile', false],
  ['a disk that folds case', /./, 'Makefile', false],
  ['a folder that folds case', /^\/w\/src/, 'src/Makefile', false],
  ['a folder beside one that folds case', /^\/w\/src/, 'Makefile', true],
])('[GI23] %s: %s %s is %s', async (_, folding, path, isTold) => {
  expect(await tellsCase('/w', path, createDisk(FILES, folding))).toBe(isTold);
});

test('[GI23] the disk itself is asked', async () => {
  const top = await mkdtemp(join(tmpdir(), 'synod-case-'));
  await mkdir(join(top, 'src'));
  await writeFile(join(top, 'src/a'), '');
  const isTold = await tellsCase(top, 'src/A');
  await writeFile(join(top, 'src/A'), 'two');
  const { readFile } = await import('node:fs/promises');
  expect(isTold).toBe((await readFile(join(top, 'src/a'), 'utf8')) === '');
  await rm(top, { recursive: true });
});
