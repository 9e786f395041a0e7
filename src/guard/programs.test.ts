/** Programs: which may be executed, with which arguments; told apart by where they lie. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createGuard } from './guard.ts';
import { matchesArgs } from './programs.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-guard-run-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
mkdirSync(join(base, 'bin'));
mkdirSync(join(base, 'work'));
copyFileSync('/bin/echo', join(base, 'bin/tool'));
copyFileSync('/bin/echo', join(base, 'work/mine'));
chmodSync(join(base, 'bin/tool'), 0o755);
// As busybox does it: one file, and what it does depends on what it is called.
symlinkSync('tool', join(base, 'bin/other-name'));
symlinkSync('/bin/cat', join(base, 'work/echo'));
symlinkSync(join(base, 'bin/tool'), join(base, 'work/tool'));

test.each([
  [[], [], true],
  [[], ['x'], false],
  [['status'], ['status'], true],
  [['status'], ['status', '--short'], false],
  [['status', '**'], ['status'], true],
  [['status', '**'], ['status', '--anything', 'goes'], true],
  [['**'], [], true],
  [['show', '*'], ['show', 'HEAD'], true],
  [['show', '*'], ['show', ''], true],
  // An option is not a name, however it is passed.
  [['show', '*'], ['show', '--output=/etc/passwd'], false],
  [['show', '*'], ['show', '-o'], false],
  [['show', '*'], ['show'], false],
  [['--since=*'], ['--since=1 week'], true],
  [['*.ts'], ['a.ts'], true],
  [['*.ts'], ['a.ts\n--exec'], false],
  [['a*b*c'], ['a--b--c'], true],
  [['a*b*c'], ['abc'], true],
  [['a*b'], ['a'], false],
  [['ab*ba'], ['aba'], false],
  [['a.c'], ['abc'], false],
])('[PO8] the patterns %j and the arguments %j: %s', (patterns, args, fits) => {
  expect(matchesArgs(patterns, args)).toBe(fits);
});

test('[PO8] a pattern of stars costs no more than its length', () => {
  const pattern = `${'*a'.repeat(2_000)}b`;
  const begun = performance.now();
  expect(matchesArgs([pattern], ['a'.repeat(100_000)])).toBe(false);
  expect(performance.now() - begun).toBeLessThan(1_000);
});

describe('[PO8] programs', () => {
  const guard = createGuard(
    {
      write: [join(base, 'work')],
      execute: [
        { program: join(base, 'bin/tool'), args: ['hello', '*'] },
        { program: 'echo', args: ['**'] },
        { program: join(base, 'work/mine') },
        { program: 'no-such-program-anywhere' },
      ],
    },
    { cwd: base },
  );
  test.each([
    [join(base, 'bin/tool'), ['hello', 'you'], 'guard.allowed'],
    ['bin/../bin/tool', ['hello', 'you'], 'guard.allowed'],
    ['echo', ['a', 'b'], 'guard.allowed'],
    [join(base, 'bin/tool'), [], 'guard.no-rule'],
    [join(base, 'bin/tool'), ['hello', '--you'], 'guard.no-rule'],
    // Another name of the same file, and the same name of another file.
    ['bin/other-name', ['hello', 'you'], 'guard.no-rule'],
    ['work/tool', ['hello', 'you'], 'guard.no-rule'],
    ['work/echo', [], 'guard.no-rule'],
    ['sh', ['-c', 'echo'], 'guard.no-rule'],
    ['no-such-program-anywhere', [], 'guard.no-rule'],
    ['bin', [], 'guard.no-rule'],
    ['', [], 'guard.invalid'],
    ['echo', ['a\0b'], 'guard.invalid'],
    // What may be written is not executed, though the policy names it.
    ['work/mine', [], 'guard.writable-program'],
  ])('%s %j: %s', async (program, args, code) => {
    const decision = await guard.check({ kind: 'execute', program, args });
    expect(decision).toMatchObject({ code, allowed: code === 'guard.allowed' });
  });

  test('[PO8] an empty list is nothing, not anything', async () => {
    const empty = createGuard({ execute: [] });
    const decision = await empty.check({ kind: 'execute', program: 'echo', args: [] });
    expect(decision).toMatchObject({ allowed: false, code: 'guard.no-rule' });
    await expect(empty.spawn('echo', [])).rejects.toMatchObject({ code: 'guard.no-rule' });
  });
});
