/**
 * Which files a commit, a merge, the index or a branch changed, from the root of the worktree.
 *
 * A rename counts on both sides, a root commit changes all it holds, a merge what it brought to its
 * first parent [GI10]. Names come NUL-separated, so any name is itself; more than the bound is a
 * problem, never a shortened list that looks whole [GI11].
 */
import { isProblem, type Problem, problem, quoted } from './problem.ts';
import type { Repository } from './repository.ts';
import { askGit, runGit, splitNul } from './run-git.ts';

/** Plumbing heeds few settings, and these leave it none. */
const NAMES = ['-r', '-z', '--name-only', '--no-renames', '--no-ext-diff', '--no-relative'];
const WHOLE = ['--ignore-submodules=none'];

export type Changes = readonly string[];

export async function changedInCommit(
  { toplevel }: Repository,
  revision = 'HEAD',
): Promise<Changes | Problem> {
  const commit = await readCommit(toplevel, revision);
  if (isProblem(commit)) return commit;
  const line = await askGit(toplevel, ['rev-list', '--parents', '-n', '1', commit]);
  if (isProblem(line)) return line;
  const [, parent] = line.trim().split(' ');
  const before = parent ?? (await emptyTree(toplevel));
  return isProblem(before) ? before : between(toplevel, before, commit);
}

/** Whether a commit joins branches: so does the one that ends a merge with conflicts. */
export async function isMerge({ toplevel }: Repository): Promise<boolean | Problem> {
  const line = await askGit(toplevel, ['rev-list', '--parents', '-n', '1', 'HEAD']);
  return isProblem(line) ? line : line.trim().split(' ').length > 2;
}

/** What the merge that just ended brought: git leaves where HEAD was in ORIG_HEAD. */
export async function changedByMerge({ toplevel }: Repository): Promise<Changes | Problem> {
  const before = await readCommit(toplevel, 'ORIG_HEAD');
  if (isProblem(before)) return before;
  const after = await readCommit(toplevel, 'HEAD');
  return isProblem(after) ? after : between(toplevel, before, after);
}

/** What the next commit would change. A hook passes on GIT_INDEX_FILE: `git commit PATH` has its own. */
export async function stagedChanges(
  { toplevel, head }: Repository,
  indexFile?: string,
): Promise<Changes | Problem> {
  const against = head ?? (await emptyTree(toplevel));
  if (isProblem(against)) return against;
  const args = ['diff-index', '--cached', ...NAMES, ...WHOLE, against, '--'];
  return names(await askGit(toplevel, args, { indexFile: indexFile || undefined }));
}

/** What lies changed or new in the worktree and is in no commit yet. */
export async function uncommittedChanges({
  toplevel,
  head,
}: Repository): Promise<Changes | Problem> {
  const against = head ?? (await emptyTree(toplevel));
  if (isProblem(against)) return against;
  const changed = names(await askGit(toplevel, ['diff-index', ...NAMES, ...WHOLE, against, '--']));
  if (isProblem(changed)) return changed;
  const fresh = names(await askGit(toplevel, ['ls-files', '-z', '--others', '--exclude-standard']));
  return isProblem(fresh) ? fresh : [...new Set([...changed, ...fresh])];
}

/** What a branch changed since it left its base, as `git diff base...branch` would say. */
export async function changedOnBranch(
  { toplevel }: Repository,
  { base, branch }: { readonly base: string; readonly branch: string },
): Promise<Changes | Problem> {
  const from = await readCommit(toplevel, base);
  if (isProblem(from)) return from;
  const to = await readCommit(toplevel, branch);
  if (isProblem(to)) return to;
  const fork = await runGit(toplevel, ['merge-base', from, to]);
  if (isProblem(fork)) return fork;
  if (fork.exit !== 0) {
    return problem(
      'git.unknown-revision',
      `${quoted(base)} and ${quoted(branch)} have no commit in common`,
      'name the branch it was started from',
    );
  }
  return between(toplevel, fork.stdout.trim(), to);
}

async function between(
  toplevel: string,
  before: string,
  after: string,
): Promise<Changes | Problem> {
  const args = ['diff-tree', ...NAMES, ...WHOLE, before, after, '--'];
  return names(await askGit(toplevel, args));
}

function names(answer: string | Problem): Changes | Problem {
  return isProblem(answer) ? answer : splitNul(answer);
}

/** A revision as its commit's hash. A name that git could take for an option is none. */
async function readCommit(toplevel: string, revision: string): Promise<string | Problem> {
  const isName = revision !== '' && !/^-|\p{Cc}/u.test(revision);
  const args = ['rev-parse', '-q', '--verify', `${revision}^{commit}`];
  const answer = isName ? await runGit(toplevel, args) : null;
  if (isProblem(answer)) return answer;
  if (answer !== null && answer.exit === 0) return answer.stdout.trim();
  return problem(
    'git.unknown-revision',
    `there is no commit ${quoted(revision)} here`,
    'fetch it, or check how the branch is called',
  );
}

/** Its hash depends on the repository's hash function. */
function emptyTree(toplevel: string): Promise<string | Problem> {
  const args = ['hash-object', '-t', 'tree', '--stdin'];
  return askGit(toplevel, args).then((text) => (isProblem(text) ? text : text.trim()));
}
