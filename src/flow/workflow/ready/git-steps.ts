/** What landing does with git, each in a worktree of its own: no branch that somebody works on is touched. */
import { join } from 'node:path';
import { runGit } from '../../../place/run-git.ts';

const GIT_TIMEOUT_MS = 120_000;

export interface Git {
  /** Throws what git said when it did not go well. */
  run(...args: string[]): Promise<string>;
  /** Whether it went well, and what it said. */
  try(...args: string[]): Promise<{ readonly isDone: boolean; readonly text: string }>;
}

export function createGit(cwd: string): Git {
  async function attempt(...args: string[]) {
    const answer = await runGit(cwd, args, { timeoutMs: GIT_TIMEOUT_MS });
    if (!('exit' in answer)) throw new Error(`git ${args[0]} in ${cwd}: ${answer.message}`);
    const text = `${answer.stdout}${answer.exit === 0 ? '' : answer.stderr}`.trim();
    return { isDone: answer.exit === 0, text };
  }
  return {
    try: attempt,
    async run(...args) {
      const { isDone, text } = await attempt(...args);
      if (!isDone) throw new Error(`git ${args.join(' ')}: ${text.slice(-1_000)}`);
      return text;
    },
  };
}

/** A worktree at a commit; one that is there from an attempt that died is made anew. */
export async function openWorktree(repository: string, name: string, at: string): Promise<string> {
  const git = createGit(repository);
  const common = await git.run('rev-parse', '--path-format=absolute', '--git-common-dir');
  const path = join(common, 'synod-landing', name.replace(/[^\w.-]/g, '_'));
  await removeWorktree(repository, path);
  await git.run('worktree', 'add', '--force', '--detach', path, at);
  return path;
}

export async function removeWorktree(repository: string, path: string): Promise<void> {
  const git = createGit(repository);
  await git.try('worktree', 'remove', '--force', '--force', path);
  await git.try('worktree', 'prune');
}

export type Rebased =
  | { readonly isDone: true; readonly commit: string }
  | { readonly isDone: false; readonly files: readonly string[] };

/** The commits of a worktree on top of a commit, or the files that stand against it. */
export async function rebase(worktree: string, onto: string): Promise<Rebased> {
  const git = createGit(worktree);
  const { isDone, text } = await git.try('rebase', onto);
  if (isDone) return { isDone, commit: await git.run('rev-parse', 'HEAD') };
  const files = (await git.run('diff', '--name-only', '--diff-filter=U'))
    .split('\n')
    .filter(Boolean);
  await git.try('rebase', '--abort');
  if (files.length === 0) throw new Error(`git rebase ${onto}: ${text.slice(-1_000)}`);
  return { isDone: false, files };
}
