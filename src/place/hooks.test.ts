import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  scriptOnPath,
  tempFolder,
  tryGit,
  write,
} from '../../test/place/real-repository.ts';
import { HELD_EXIT, shellQuote } from './hook-script.ts';
import { checkHooks, type HooksReport, installHooks, uninstallHooks } from './hooks.ts';
import { isProblem, type Problem } from './problem.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Every entry of a folder with its bytes, mode and link. */
function photograph(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const what = stat.isSymbolicLink() ? readlinkSync(path) : readFileSync(path).toString('hex');
      return [name, `${(stat.mode & 0o7777).toString(8)} ${what}`];
    }),
  );
}

function must(report: HooksReport | Problem): HooksReport {
  if (isProblem(report)) throw new Error(`${report.problem}: ${report.message}`);
  return report;
}

const states = (report: HooksReport | Problem) =>
  must(report).hooks.map(({ state, isChained }) => (isChained ? `${state}+kept` : state));

function hookFile(root: string, name: string, text: string, mode = 0o755): void {
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  writeFileSync(join(root, '.git/hooks', name), text);
  chmodSync(join(root, '.git/hooks', name), mode);
}

/** A synod that writes down how it was called, and answers with an exit code. */
function fakeSynod(root: string, exit: number): { shim: string; calls: () => string[] } {
  const log = join(root, 'calls.txt');
  scriptOnPath(
    root,
    'synod',
    `#!/bin/sh\nlog=${shellQuote(log)}\nprintf '%s|' "$@" >> "$log"\necho >> "$log"\nexit ${exit}\n`,
  );
  return {
    shim: join(root, 'synod'),
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
  };
}

function tryCommit(root: string, env: Record<string, string> = {}) {
  write(root, 'file.txt', `${Math.random()}`);
  git(root, 'add', '-A');
  return tryGit(root, ['commit', '-q', '-m', 'x'], env);
}

test('[GI14] hooks that are there are kept, run first, and restored byte for byte', async () => {
  const root = initRepository(join(tempFolder(), 'app'));
  hookFile(root, 'pre-commit', '#!/bin/sh\r\n# odd \xff bytes\nexit 0\n', 0o750);
  hookFile(root, 'post-merge', 'not executable', 0o644);
  hookFile(root, 'commit-msg', '#!/bin/sh\nexit 0\n');
  symlinkSync('../../scripts/after.sh', join(root, '.git/hooks/post-commit'));
  const before = photograph(join(root, '.git/hooks'));
  const repository = await repositoryAt(root);
  expect(states(await installHooks(repository))).toEqual(['ours+kept', 'ours+kept', 'ours+kept']);
  expect(photograph(join(root, '.git/hooks'))).not.toEqual(before);
  expect(must(await uninstallHooks(repository)).changed).toEqual([
    'pre-commit',
    'post-commit',
    'post-merge',
  ]);
  expect(photograph(join(root, '.git/hooks'))).toEqual(before);
});

test('[GI14] where there were none, none are left', async () => {
  const repository = await repositoryAt(initRepository(tempFolder()));
  const { folder } = must(await checkHooks(repository));
  const before = photograph(folder);
  expect(states(await installHooks(repository))).toEqual(['ours', 'ours', 'ours']);
  expect(states(await uninstallHooks(repository))).toEqual(['missing', 'missing', 'missing']);
  expect(photograph(folder)).toEqual(before);
  expect(must(await uninstallHooks(repository)).changed).toEqual([]);
});

test('[GI15] installing twice changes nothing; a new shim changes only ours', async () => {
  const root = initRepository(tempFolder());
  hookFile(root, 'pre-commit', '#!/bin/sh\nexit 0\n');
  const repository = await repositoryAt(root);
  await installHooks(repository, '/opt/synod');
  const once = photograph(join(root, '.git/hooks'));
  expect(must(await installHooks(repository, '/opt/synod')).changed).toEqual([]);
  expect(photograph(join(root, '.git/hooks'))).toEqual(once);
  expect(states(await checkHooks(repository, "/o'p t/synod"))[0]).toBe('outdated+kept');
  expect(must(await installHooks(repository, "/o'p t/synod")).changed).toHaveLength(3);
  expect(states(await checkHooks(repository))).toEqual(['ours+kept', 'ours', 'ours']);
  expect(tryCommit(root).exit).toBe(0);
});

test('[GI12] git calls `synod git hook NAME`, in the worktree, for each of them', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  commit(app, { a: 'x' });
  git(app, 'worktree', 'add', '-q', '-b', 'side', join(root, 'tree'));
  const synod = fakeSynod(join(root, "it's here"), 0);
  await installHooks(await repositoryAt(join(root, 'tree')), synod.shim);
  expect(tryCommit(join(root, 'tree')).exit).toBe(0);
  expect(synod.calls()).toEqual(['git|hook|pre-commit|', 'git|hook|post-commit|']);
  git(app, 'merge', '-q', 'side');
  expect(synod.calls().at(-1)).toBe('git|hook|post-merge|0|');
});

test('[GI13] only a held path refuses the commit; a Synod in trouble lets it pass and says so', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  const repository = await repositoryAt(app);
  await installHooks(repository, fakeSynod(join(root, 'held'), HELD_EXIT).shim);
  expect(tryCommit(app).exit).toBe(1);
  for (const exit of [1, 2, 69, 70, 127]) {
    await installHooks(repository, fakeSynod(join(root, `exit-${exit}`), exit).shim);
    const ran = tryCommit(app);
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain('could not check whose files these are');
  }
});

test('[GI13] without Synod the commit passes: pre-commit says so, the others are silent', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  await installHooks(await repositoryAt(app), join(root, 'gone', 'synod'));
  // The machine may have one; here it has not.
  const bare = { PATH: '/usr/bin:/bin' };
  const ran = tryCommit(app, bare);
  expect(ran.exit).toBe(0);
  expect(ran.stderr.trim().split('\n')).toEqual([expect.stringContaining('synod: not found')]);
  // One on PATH stands in for the one that went away.
  const synod = fakeSynod(join(root, 'new'), 0);
  tryCommit(app, { PATH: `${join(root, 'new')}:${bare.PATH}` });
  expect(synod.calls()).toEqual(['git|hook|pre-commit|', 'git|hook|post-commit|']);
});

test('[GI14] a kept pre-commit decides first, with its own exit code and its own name', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  const synod = fakeSynod(join(root, 'bin'), 0);
  const said = join(root, 'said');
  hookFile(app, 'pre-commit', `#!/bin/sh\nbasename "$0" > '${said}'\n[ ! -e stop ] || exit 3\n`);
  hookFile(app, 'post-commit', `#!/usr/bin/env -S perl\nprint STDERR "perl ran\\n";\n`);
  await installHooks(await repositoryAt(app), synod.shim);
  const passed = tryCommit(app);
  expect(passed).toMatchObject({ exit: 0, stderr: expect.stringContaining('perl ran') });
  expect(readFileSync(said, 'utf8')).toBe('pre-commit\n');
  expect(synod.calls()).toHaveLength(2);
  write(app, 'stop', '');
  expect(tryCommit(app).exit).toBe(1);
  expect(synod.calls()).toHaveLength(2);
});

test('[GI14] core.hooksPath is where git looks, so it is where they go', async () => {
  const root = initRepository(tempFolder());
  git(root, 'config', 'core.hooksPath', '.husky/_');
  const synod = fakeSynod(join(tempFolder(), 'bin'), 0);
  const report = must(await installHooks(await repositoryAt(root), synod.shim));
  expect(report.folder).toBe(join(root, '.husky/_'));
  expect(report.notes[0]).toContain('.husky/_');
  expect(tryCommit(root).exit).toBe(0);
  expect(synod.calls()).toHaveLength(2);
});

test('[GI16] a hooks folder of all repositories is refused', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  mkdirSync(join(root, 'shared'));
  writeFileSync(join(root, 'config'), `[core]\n\thooksPath = ${join(root, 'shared')}\n`);
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(root, 'config'));
  const refused = await installHooks(await repositoryAt(app));
  expect(refused).toMatchObject({
    problem: 'hook.global',
    remedy: expect.stringContaining('core.hooksPath'),
  });
  expect(readdirSync(join(root, 'shared'))).toEqual([]);
});

test('[GI16] a hooks folder that a link leads to out of the repository is refused, and named', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  mkdirSync(join(root, 'elsewhere'));
  rmSync(join(app, '.git/hooks'), { recursive: true, force: true });
  symlinkSync(join(root, 'elsewhere'), join(app, '.git/hooks'));
  const refused = await installHooks(await repositoryAt(app));
  expect(refused).toMatchObject({
    problem: 'hook.elsewhere',
    message: expect.stringContaining(join(root, 'elsewhere')),
  });
  expect(readdirSync(join(root, 'elsewhere'))).toEqual([]);
});

test('[GI16] a hook of ours that was edited is not touched, by either', async () => {
  const root = initRepository(tempFolder());
  const repository = await repositoryAt(root);
  await installHooks(repository);
  const path = join(root, '.git/hooks/post-merge');
  writeFileSync(path, `${readFileSync(path, 'utf8')}echo mine\n`);
  const before = photograph(join(root, '.git/hooks'));
  expect(await uninstallHooks(repository)).toMatchObject({ problem: 'hook.edited' });
  expect(await installHooks(repository, '/x')).toMatchObject({ problem: 'hook.edited' });
  expect(photograph(join(root, '.git/hooks'))).toEqual(before);
});

test('[GI16] another tool that replaced ours loses nothing, nor does the one we keep', async () => {
  const root = initRepository(tempFolder());
  hookFile(root, 'pre-commit', '#!/bin/sh\n# first\n');
  const repository = await repositoryAt(root);
  await installHooks(repository);
  hookFile(root, 'pre-commit', '#!/bin/sh\n# second\n');
  const before = photograph(join(root, '.git/hooks'));
  expect(await installHooks(repository)).toMatchObject({ problem: 'hook.two-kept' });
  expect(await uninstallHooks(repository)).toMatchObject({ problem: 'hook.two-kept' });
  expect(photograph(join(root, '.git/hooks'))).toEqual(before);
});

test('[GI15] an install that was cut short is finished by the next', async () => {
  const root = initRepository(tempFolder());
  // Between the two steps: the old one is put aside, ours is not there yet.
  hookFile(root, 'pre-commit.synod-kept', '#!/bin/sh\nexit 0\n');
  const repository = await repositoryAt(root);
  expect(states(await checkHooks(repository))[0]).toBe('missing+kept');
  expect(states(await installHooks(repository))[0]).toBe('ours+kept');
  await uninstallHooks(repository);
  expect(readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\nexit 0\n');
  expect(existsSync(join(root, '.git/hooks/pre-commit.synod-kept'))).toBe(false);
});

test('[GI16] a hooks folder that is no folder is a problem, not a crash', async () => {
  const root = initRepository(tempFolder());
  git(root, 'config', 'core.hooksPath', '/dev/null');
  expect(await installHooks(await repositoryAt(root))).toMatchObject({
    problem: 'hook.unwritable',
  });
});
