/** Paths: tables of what is allowed and what is not, on a real disk with real links, and files touched. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { PathKind } from './decision.ts';
import { FileTrouble, readThere, removeThere, writeThere } from './files.ts';
import { createGuard, type Guard } from './guard.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-guard-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let srv: string;
let guard: Guard;
let count = 0;
beforeEach(() => {
  srv = join(base, `srv-${count++}`);
  for (const folder of ['allowed/sub', 'allowed-evil', 'out', 'secret']) {
    mkdirSync(join(srv, folder), { recursive: true });
  }
  for (const file of ['allowed/a.txt', 'allowed/.env', 'allowed-evil/a.txt', 'secret/key']) {
    writeFileSync(join(srv, file), file);
  }
  symlinkSync(join(srv, 'secret'), join(srv, 'allowed/to-secret'));
  symlinkSync('../secret/key', join(srv, 'allowed/to-key'));
  symlinkSync('../secret/new', join(srv, 'allowed/dangling'));
  symlinkSync('a.txt', join(srv, 'allowed/to-a'));
  symlinkSync('allowed', join(srv, 'nick'));
  guard = createGuard(
    {
      read: [join(srv, 'allowed'), join(srv, 'out')],
      write: [join(srv, 'out'), join(srv, 'allowed/sub')],
      delete: [join(srv, 'out')],
      except: [join(srv, 'allowed/.env'), join(srv, 'out/keep')],
    },
    { cwd: srv },
  );
});

const cases: readonly [PathKind, string, string][] = [
  ['read', 'allowed', 'guard.allowed'],
  ['read', 'allowed/a.txt', 'guard.allowed'],
  ['read', './allowed//sub/../a.txt', 'guard.allowed'],
  ['read', 'nick/a.txt', 'guard.allowed'],
  ['read', 'allowed/to-a', 'guard.allowed'],
  ['read', 'allowed/not/there/yet', 'guard.allowed'],
  // The same letters and no separator: another folder.
  ['read', 'allowed-evil/a.txt', 'guard.no-rule'],
  ['read', 'allowed/../allowed-evil/a.txt', 'guard.no-rule'],
  ['read', 'allowed/../../../../../../../../etc/passwd', 'guard.no-rule'],
  ['read', '/etc/passwd', 'guard.no-rule'],
  ['read', '.', 'guard.no-rule'],
  ['read', 'allowed/to-secret/key', 'guard.no-rule'],
  ['read', 'allowed/to-secret/../secret/key', 'guard.no-rule'],
  ['read', 'allowed/to-key', 'guard.no-rule'],
  ['read', 'allowed/dangling', 'guard.no-rule'],
  ['read', '/proc/self/root/etc/passwd', 'guard.no-rule'],
  ['read', '/proc/self/cwd', 'guard.no-rule'],
  ['read', 'allowed/.env', 'guard.except'],
  ['read', 'nick/.env', 'guard.except'],
  ['read', '', 'guard.invalid'],
  ['read', 'allowed/a\0.txt', 'guard.invalid'],
  ['read', 'a/'.repeat(4_000), 'guard.invalid'],
  // Reading, writing and deleting are three things.
  ['write', 'allowed/a.txt', 'guard.no-rule'],
  ['write', 'allowed/sub/new/file', 'guard.allowed'],
  ['write', 'out/new', 'guard.allowed'],
  ['write', 'out/keep', 'guard.except'],
  ['write', 'out/keep/below', 'guard.except'],
  ['delete', 'allowed/sub/x', 'guard.no-rule'],
  ['delete', 'out/x', 'guard.allowed'],
  ['delete', 'out/keep', 'guard.except'],
  // With the folder would go what is taken out.
  ['delete', 'out', 'guard.except'],
];

describe('[PO1] [PO3] paths', () => {
  test.each(cases)('%s %s: %s', async (kind, path, code) => {
    const decision = await guard.check({ kind, path });
    expect(decision).toMatchObject({ code, kind, allowed: code === 'guard.allowed' });
    expect(decision).toMatchObject({ enforcement: 'advisory', guard: 'guard' });
    expect(decision.why.length).toBeGreaterThan(10);
    expect(decision.rule === null).toBe(code !== 'guard.allowed');
  });

  test('[PO1] an empty policy allows nothing, and says which list is empty', async () => {
    const nothing = createGuard({}, { cwd: srv });
    for (const kind of ['read', 'write', 'delete'] as const) {
      const decision = await nothing.check({ kind, path: 'allowed/a.txt' });
      expect(decision).toMatchObject({ allowed: false, code: 'guard.no-rule' });
      expect(decision.why).toContain(`\`${kind}\``);
    }
  });

  test('[PO3] a link put in the place of a root after the guard was made opens nothing', async () => {
    expect((await guard.check({ kind: 'write', path: 'out/x' })).allowed).toBe(true);
    renameSync(join(srv, 'out'), join(srv, 'was-out'));
    symlinkSync('secret', join(srv, 'out'));
    expect(await guard.check({ kind: 'write', path: 'out/x' })).toMatchObject({
      allowed: false,
      what: join(srv, 'secret/x'),
    });
  });

  test('[PO3] a root that is a link stands for what it led to as the guard was made', async () => {
    const linked = createGuard({ read: ['nick'] }, { cwd: srv });
    expect((await linked.check({ kind: 'read', path: 'allowed/a.txt' })).allowed).toBe(true);
  });

  test('[PO2] what is shown of a path holds no hidden character', async () => {
    const { what } = await guard.check({ kind: 'read', path: 'x\u202e\u001b[31m' });
    expect(what).toMatch(/x\\u\{202e\}\\u\{1b\}\[31m$/);
  });
});

describe('[PO4] files', () => {
  test('[PO4] are read, written and removed where they may be', async () => {
    expect(String(await guard.readFile('allowed/a.txt'))).toBe('allowed/a.txt');
    await guard.writeFile('out/one/two.txt', 'long enough', { makeFolders: true });
    await guard.writeFile('out/one/two.txt', 'short');
    expect(readFileSync(join(srv, 'out/one/two.txt'), 'utf8')).toBe('short');
    await guard.remove('out/one/two.txt');
    await guard.remove('out/one', { recursive: true });
    expect(existsSync(join(srv, 'out/one'))).toBe(false);
  });

  test('[PO4] and nowhere else: the disk is as it was', async () => {
    const before = execFileSync('find', [srv, '-type', 'f'], { encoding: 'utf8' });
    for (const path of ['allowed/dangling', 'allowed/to-key', 'secret/x', 'out/keep']) {
      await expect(guard.writeFile(path, 'x')).rejects.toMatchObject({ name: 'GuardRefused' });
    }
    await expect(guard.remove('allowed/a.txt')).rejects.toMatchObject({ code: 'guard.no-rule' });
    await expect(guard.readFile('allowed/to-key')).rejects.toMatchObject({ code: 'guard.no-rule' });
    expect(execFileSync('find', [srv, '-type', 'f'], { encoding: 'utf8' })).toBe(before);
    expect(readFileSync(join(srv, 'secret/key'), 'utf8')).toBe('secret/key');
  });

  test('[PO4] removing a link removes the link', async () => {
    symlinkSync('../secret/key', join(srv, 'out/link'));
    await guard.remove('out/link');
    expect(existsSync(join(srv, 'out/link'))).toBe(false);
    expect(existsSync(join(srv, 'secret/key'))).toBe(true);
  });

  /** What the guard allowed is handed to the deed; in between somebody changes the disk. */
  test('[PO4] a link swapped in between the decision and the deed is found', async () => {
    const { path: file = '' } = await guard.check({ kind: 'read', path: 'allowed/a.txt' });
    const { path: fresh = '' } = await guard.check({ kind: 'write', path: 'allowed/sub/key' });
    const moved = { code: 'guard.moved' };
    rmSync(file);
    symlinkSync(join(srv, 'secret/key'), file);
    await expect(readThere(file, 100)).rejects.toMatchObject(moved);
    // The folder on the way, not the file: O_NOFOLLOW alone would not see it.
    rmSync(join(srv, 'allowed/sub'), { recursive: true });
    symlinkSync(join(srv, 'secret'), join(srv, 'allowed/sub'));
    for (const deed of [
      () => readThere(fresh, 100),
      () => writeThere(fresh, 'x', {}),
      () => writeThere(fresh, 'x', { makeFolders: true }),
      () => removeThere(fresh, false),
      () => removeThere(fresh, true),
    ]) {
      await expect(deed()).rejects.toBeInstanceOf(FileTrouble);
    }
    expect(readFileSync(join(srv, 'secret/key'), 'utf8')).toBe('secret/key');
  });

  test('[PO4] a link further up the way is found as well', async () => {
    mkdirSync(join(srv, 'allowed/sub/deep'));
    mkdirSync(join(srv, 'secret/deep'));
    const { path: fresh = '' } = await guard.check({ kind: 'write', path: 'allowed/sub/deep/new' });
    renameSync(join(srv, 'allowed/sub'), join(srv, 'allowed/gone'));
    symlinkSync(join(srv, 'secret'), join(srv, 'allowed/sub'));
    await expect(writeThere(fresh, 'x', {})).rejects.toMatchObject({ code: 'guard.moved' });
    await expect(writeThere(join(fresh, 'in/new'), 'x', { makeFolders: true })).rejects.toThrow();
    expect(existsSync(join(srv, 'secret/deep/new'))).toBe(false);
    expect(existsSync(join(srv, 'secret/deep/in'))).toBe(false);
  });

  test('[PO4] what is no ordinary file, has a second name or is too large is left alone', async () => {
    execFileSync('/usr/bin/env', ['mkfifo', join(srv, 'out/pipe')]);
    linkSync(join(srv, 'secret/key'), join(srv, 'out/second'));
    const odd = { code: 'guard.not-a-file' };
    await expect(guard.readFile('out/pipe')).rejects.toMatchObject(odd);
    await expect(guard.writeFile('out/pipe', 'x')).rejects.toMatchObject(odd);
    await expect(guard.writeFile('out/second', 'x')).rejects.toMatchObject(odd);
    await expect(guard.readFile('allowed')).rejects.toMatchObject(odd);
    await expect(guard.readFile('allowed/a.txt', { maxBytes: 3 })).rejects.toMatchObject({
      code: 'guard.too-large',
    });
    expect(readFileSync(join(srv, 'secret/key'), 'utf8')).toBe('secret/key');
  });
});

test('[PO1] a policy that cannot be meant is refused when the guard is made', () => {
  const bad: [object, RegExp][] = [
    [{ reed: ['/'] }, /no field "reed"/],
    [{ read: '/' }, /read is a list/],
    [{ read: [''] }, /empty/],
    [{ read: Array(257).fill('/a') }, /257 entries/],
    [{ execute: ['git'] }, /is an object/],
    [{ execute: [{ program: 'git', args: ['**', 'x'] }] }, /write it last/],
    [{ connect: [{ scheme: 'gopher', host: 'a' }] }, /scheme is one of/],
    [{ connect: [{ scheme: 'tcp', host: 'a' }] }, /name one/],
    [{ connect: [{ scheme: 'https', host: 'a', port: 0 }] }, /port/],
    [{ connect: [{ scheme: 'https', host: 'a/b' }] }, /no host/],
    [{ connect: [{ scheme: 'https', host: '*.*.com' }] }, /no host/],
    [{ connect: [{ scheme: 'https', host: 'a', addresses: ['10.0.0.0/33'] }] }, /range/],
    [{ connect: [{ scheme: 'https', host: 'a', addresses: ['nonsense'] }] }, /address/],
  ];
  for (const [policy, why] of bad) expect(() => createGuard(policy)).toThrow(why);
});
