import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyChanges, readBytes } from './apply.ts';
import type { Change } from './plan.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'synod-apply-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function change(name: string, before: string | null, after: string | null): Change {
  return {
    path: join(root, name),
    before: before === null ? null : Buffer.from(before),
    after: after === null ? null : Buffer.from(after),
    why: 'a test',
  };
}

const all = () => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();

test('[IN6] a file keeps its mode, a new one gets the usual, and no draft is left', () => {
  writeFileSync(join(root, 'kept'), 'old');
  chmodSync(join(root, 'kept'), 0o755);
  expect(applyChanges([change('kept', 'old', 'new'), change('a/b/made', null, 'x')])).toBeNull();
  expect(statSync(join(root, 'kept')).mode & 0o777).toBe(0o755);
  expect(all()).toEqual(['a', 'a/b', 'a/b/made', 'kept']);
});

test('[IN5] a read-only file refuses the whole before anything is written', () => {
  writeFileSync(join(root, 'first'), 'old');
  writeFileSync(join(root, 'locked'), 'old');
  chmodSync(join(root, 'locked'), 0o444);
  const refused = applyChanges([change('first', 'old', 'new'), change('locked', 'old', 'new')]);
  expect(refused).toMatchObject({
    problem: 'install.read-only',
    message: expect.stringContaining('locked'),
    remedy: expect.stringContaining('chmod u+w'),
  });
  expect(readFileSync(join(root, 'first'), 'utf8')).toBe('old');
});

test('[IN5] so does a read-only folder', () => {
  mkdirSync(join(root, 'shut'));
  chmodSync(join(root, 'shut'), 0o555);
  expect(applyChanges([change('shut/in/new', null, 'x')])).toMatchObject({
    problem: 'install.read-only',
    message: expect.stringContaining(join(root, 'shut')),
  });
  expect(readdirSync(join(root, 'shut'))).toEqual([]);
});

test('[IN5] a file that changed after it was read is not overwritten', () => {
  writeFileSync(join(root, 'first'), 'old');
  writeFileSync(join(root, 'busy'), 'theirs');
  const changes = [change('first', 'old', 'new'), change('busy', 'old', 'new')];
  expect(applyChanges(changes)).toMatchObject({ problem: 'install.changed-meanwhile' });
  expect(applyChanges([change('first', null, 'new')])).toMatchObject({
    problem: 'install.changed-meanwhile',
  });
  expect(readFileSync(join(root, 'first'), 'utf8')).toBe('old');
  expect(readFileSync(join(root, 'busy'), 'utf8')).toBe('theirs');
});

test('[IN5] what is no file is refused by name', () => {
  mkdirSync(join(root, 'folder'));
  symlinkSync('loop', join(root, 'loop'));
  expect(readBytes(join(root, 'folder'))).toMatchObject({ problem: 'install.not-a-file' });
  expect(readBytes(join(root, 'loop'))).toMatchObject({ problem: 'install.unwritable' });
  expect(readBytes(join(root, 'nothing'))).toBeNull();
});

test('[IN7] when a later file fails, the earlier ones are as they were', () => {
  writeFileSync(join(root, 'changed'), 'old', { mode: 0o600 });
  writeFileSync(join(root, 'deleted'), 'gone');
  // Its draft has a name too long for any file system, which shows only when it is written.
  const late = change('x'.repeat(250), null, 'x');
  const problem = applyChanges([
    change('changed', 'old', 'new'),
    change('deleted', 'gone', null),
    change('made/in/here', null, 'x'),
    late,
  ]);
  expect(problem).toMatchObject({
    problem: 'install.unwritable',
    message: expect.stringContaining('everything is as it was'),
  });
  expect(all()).toEqual(['changed', 'deleted']);
  expect(readFileSync(join(root, 'changed'), 'utf8')).toBe('old');
  expect(statSync(join(root, 'changed')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(root, 'deleted'), 'utf8')).toBe('gone');
});

test('[IN6] folders that were made go when they are empty, and stay when they are not', () => {
  const folders = [join(root, 'a'), join(root, 'a/b')];
  for (const other of [false, true]) {
    expect(applyChanges([change('a/b/c', null, 'x')])).toBeNull();
    if (other) writeFileSync(join(root, 'a/other'), '');
    expect(applyChanges([{ ...change('a/b/c', 'x', null), folders }])).toBeNull();
    expect(existsSync(join(root, 'a/b'))).toBe(false);
    expect(existsSync(join(root, 'a'))).toBe(other);
  }
});
