/**
 * Real repositories in a temporary folder, made by the real git, with nothing of the user's settings.
 * Everything is removed when the test ends.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isProblem } from '../../src/place/problem.ts';
import { type Repository, readRepository } from '../../src/place/repository.ts';

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs git as an author, and fails the test when it fails. */
export function git(cwd: string, ...args: string[]): string {
  const ran = tryGit(cwd, args);
  if (ran.exit !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`);
  return ran.stdout.trimEnd();
}

export function tryGit(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Ran {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: {
      ...Object.fromEntries(own),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.org',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.org',
      ...env,
    },
  });
  return { exit: status ?? -1, stdout, stderr };
}

export function initRepository(folder: string): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main', '.');
  return folder;
}

export function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

export function commit(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'a commit');
  return git(root, 'rev-parse', 'HEAD');
}

export async function repositoryAt(cwd: string): Promise<Repository> {
  const repository = await readRepository(cwd);
  if (isProblem(repository)) throw new Error(`${repository.problem}: ${repository.message}`);
  return repository;
}

/** A folder with one executable script in it, and a PATH that finds it first. */
export function scriptOnPath(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), 0o755);
  return `${folder}${delimiter}${process.env.PATH ?? ''}`;
}
