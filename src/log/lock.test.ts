import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { lockDirectory, lockStore, readHolder } from './lock.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-lock-'));
afterAll(() => rmSync(root, { recursive: true }));

function freshDir(): string {
  return join(mkdtempSync(join(root, 'case-')), 'home');
}

/** A process that takes the lock, says so or why not, and then stays. */
function contender(dir: string, call = `lockDirectory(${JSON.stringify(dir)})`): ChildProcess {
  const script = `import { lockDirectory, lockStore } from '${import.meta.resolve('./lock.ts')}';
    try { ${call}; console.log('held'); setInterval(() => globalThis.gc?.(), 5); }
    catch (error) { console.log(error.message); }`;
  const args = ['--input-type=module', '--no-warnings', '--expose-gc', '-e', script];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, 'line')) as [string];
  return line;
}

test('[G10] a second process is refused and told who holds the directory, since when and what to do', async () => {
  const dir = freshDir();
  const holder = contender(dir);
  expect(await firstLine(holder)).toBe('held');
  const { since, command } = JSON.parse(readFileSync(join(dir, 'holder.json'), 'utf8'));
  expect(new Date(since).toISOString()).toBe(since);
  expect(typeof command).toBe('string');
  const second = await firstLine(contender(dir));
  expect(second).toMatch(/^log\.locked: /);
  for (const part of [dir, `process ${holder.pid}`, since, `kill ${holder.pid}`]) {
    expect(second).toContain(part);
  }
  expect(() => lockDirectory(dir)).toThrow(expect.objectContaining({ code: 'log.locked' }));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
});

test('[G10] kill -9 of the holder frees the directory at once', async () => {
  const dir = freshDir();
  for (let round = 0; round < 3; round++) {
    const holder = contender(dir);
    expect(await firstLine(holder)).toBe('held');
    expect(readHolder(dir)?.pid).toBe(holder.pid);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  }
  const lock = lockDirectory(dir);
  expect(readHolder(dir)?.pid).toBe(process.pid);
  lock.release();
});

test('[G10] of many processes that start at once exactly one gets the directory', async () => {
  const dir = freshDir();
  const children = Array.from({ length: 5 }, () => contender(dir));
  const answers = await Promise.all(children.map(firstLine));
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(1);
  expect(answers.filter((answer) => answer.startsWith('log.locked: '))).toHaveLength(4);
  for (const child of children) child.kill('SIGKILL');
});

test('[G10] one process cannot hold a directory twice, and release frees it, once', () => {
  const dir = freshDir();
  const lock = lockDirectory(dir);
  expect(() => lockDirectory(dir)).toThrow(`process ${process.pid}`);
  lock.release();
  expect(existsSync(join(dir, 'holder.json'))).toBe(false);
  const next = lockDirectory(dir);
  lock.release();
  expect(readHolder(dir)?.pid).toBe(process.pid);
  next.release();
});

test('[G10] asking again in the process that holds a lock does not let go of it', async () => {
  const dir = freshDir();
  const lock = lockDirectory(dir);
  expect(() => lockDirectory(dir)).toThrow('log.locked');
  expect(await firstLine(contender(dir))).toMatch(/^log\.locked: /);
  lock.release();
});

test('[G10] a store has one writer, however its path is spelt', async () => {
  const folder = mkdtempSync(join(root, 'case-'));
  const real = join(folder, 'real', 'log.sqlite');
  for (const [kind, path] of [
    ['sqlite', real],
    ['file', join(folder, 'real', 'log')],
  ] as const) {
    const lock = lockStore(path, kind);
    const link = join(folder, `link-${kind}`);
    symlinkSync(path, link);
    if (kind === 'sqlite') symlinkSync(join(folder, 'real'), join(folder, 'folder'));
    const spellings = [
      path,
      link,
      join(folder, 'folder', basename(path)),
      `${folder}/real/../folder/./${basename(path)}`,
    ];
    for (const spelt of spellings) {
      const call = `lockStore(${JSON.stringify(spelt)}, '${kind}')`;
      const refused = await firstLine(contender('', call));
      expect(refused).toMatch(/^log\.locked: the store /);
      for (const part of [spelt, `process ${process.pid}`, 'or choose another store']) {
        expect(refused).toContain(part);
      }
    }
    lock.release();
    lockStore(link, kind).release();
  }
});

test('what the lock leaves in the directory is the owner’s alone', () => {
  const dir = freshDir();
  const lock = lockDirectory(dir);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const name of ['lock.sqlite', 'holder.json']) {
    expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  }
  lock.release();
});

test.each([0o777, 0o770, 0o1777])(
  '[ST2] a directory of mode %o is refused and left as it is',
  (mode) => {
    const dir = freshDir();
    mkdirSync(dir);
    chmodSync(dir, mode);
    expect(() => lockDirectory(dir)).toThrow(
      expect.objectContaining({
        code: 'log.unavailable',
        message: expect.stringMatching(/other users may write to .*chmod go-w/),
      }),
    );
    expect(readdirSync(dir)).toEqual([]);
    chmodSync(dir, 0o755);
    lockDirectory(dir).release();
  },
);

test.runIf(process.getuid?.() === 0)('[ST2] a directory of another user is refused', () => {
  const dir = freshDir();
  mkdirSync(dir);
  chownSync(dir, 65_534, 65_534);
  expect(() => lockDirectory(dir)).toThrow(/belongs to another user \(65534, and this is 0\)/);
  expect(readdirSync(dir)).toEqual([]);
});
