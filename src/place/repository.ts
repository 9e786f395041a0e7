/**
 * Which repository a folder is in, asked of git itself.
 *
 * Two worktrees and all sub-directories of one repository share its `commonDir`, and that is its key
 * [GI3]; `toplevel` tells the worktrees apart. A detached or unborn HEAD is no obstacle but is
 * said; a bare repository has no files to speak of and is refused, as is a folder in none [GI1].
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isProblem, type Problem, problem, quoted } from './problem.ts';
import { askGit, failed, runGit } from './run-git.ts';

export interface Repository {
  /** The root of this worktree; no symlink in it. */
  readonly toplevel: string;
  /** The key of the repository. */
  readonly commonDir: string;
  /** What this worktree alone has of git. */
  readonly gitDir: string;
  /** The name people know the repository by. */
  readonly project: string;
  /** Null when HEAD names a commit and no branch. */
  readonly branch: string | null;
  /** Null before the first commit. */
  readonly head: string | null;
  /** What is unusual and allowed: `git.detached`, `git.unborn`. */
  readonly notes: readonly Problem[];
}

export async function readRepository(cwd: string): Promise<Repository | Problem> {
  const kind = await readKind(cwd);
  if (isProblem(kind)) return kind;
  const [paths, symbolic, commit] = await Promise.all([
    readPaths(cwd),
    runGit(cwd, ['symbolic-ref', '-q', 'HEAD']),
    runGit(cwd, ['rev-parse', '-q', '--verify', 'HEAD^{commit}']),
  ]);
  if (isProblem(paths)) return paths;
  if (isProblem(symbolic)) return symbolic;
  if (isProblem(commit)) return commit;
  const branch = symbolic.exit === 0 ? branchOf(symbolic.stdout.trimEnd()) : null;
  const head = commit.exit === 0 ? commit.stdout.trimEnd() : null;
  const { toplevel, commonDir, gitDir } = paths;
  const project = projectOf(paths);
  const notes = notesOf(toplevel, branch, head);
  return { toplevel, commonDir, gitDir, project, branch, head, notes };
}

async function readKind(cwd: string): Promise<'worktree' | Problem> {
  const args = ['rev-parse', '--is-bare-repository', '--is-inside-work-tree'];
  const answer = await runGit(cwd, args);
  if (isProblem(answer)) return answer;
  if (answer.exit !== 0) return whyNone(cwd, args, answer);
  const [isBare, isInside] = answer.stdout.split('\n');
  if (isInside === 'true') return 'worktree';
  if (isBare === 'true') {
    return problem(
      'git.bare',
      `${quoted(cwd)} is a bare repository: it has no files to claim`,
      'go to one of its worktrees, or make one with "git worktree add"',
    );
  }
  return problem(
    'git.inside-git-folder',
    `${quoted(cwd)} is git's own folder, not a worktree`,
    'go to the worktree it belongs to',
  );
}

function whyNone(cwd: string, args: readonly string[], answer: Parameters<typeof failed>[1]) {
  if (/not a git repository/i.test(answer.stderr)) {
    return problem(
      'git.not-a-repository',
      `${quoted(cwd)} is in no git repository`,
      'go to one, or make one with "git init"',
    );
  }
  if (/dubious ownership|safe\.directory/i.test(answer.stderr)) {
    return problem(
      'git.not-yours',
      `${quoted(cwd)} belongs to another user, so git will not read it`,
      'if you trust it: git config --global --add safe.directory FOLDER',
    );
  }
  return failed(args, answer);
}

interface Paths {
  readonly toplevel: string;
  readonly commonDir: string;
  readonly gitDir: string;
}

const PATH_QUESTIONS = ['--show-toplevel', '--git-common-dir', '--absolute-git-dir'] as const;

async function readPaths(cwd: string): Promise<Paths | Problem> {
  const ask = (questions: readonly string[]) =>
    askGit(cwd, ['rev-parse', '--path-format=absolute', ...questions]);
  const text = await ask(PATH_QUESTIONS);
  if (isProblem(text)) return text;
  let lines = text.split('\n').slice(0, -1);
  if (lines.length !== PATH_QUESTIONS.length) {
    // A folder with a newline in its name: each path must be asked for alone to be told apart.
    const answers = await Promise.all(PATH_QUESTIONS.map((question) => ask([question])));
    const bad = answers.find(isProblem);
    if (bad !== undefined) return bad;
    lines = answers.map((answer) => (answer as string).slice(0, -1));
  }
  try {
    const [toplevel = '', commonDir = '', gitDir = ''] = await Promise.all(
      lines.map((line) => realpath(line)),
    );
    return { toplevel, commonDir, gitDir };
  } catch (cause) {
    return problem(
      'git.failed',
      `the repository of ${quoted(cwd)} went away while it was read (${(cause as Error).message})`,
      'try again',
    );
  }
}

function branchOf(ref: string): string {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref;
}

/** The name of the main worktree, so that every worktree of a project gives the same one. */
function projectOf({ toplevel, commonDir, gitDir }: Paths): string {
  const folder = basename(commonDir);
  if (folder === '.git') return basename(dirname(commonDir));
  // A submodule or a git folder kept elsewhere; from its own worktree the worktree names it.
  if (gitDir === commonDir) return basename(toplevel);
  return folder.replace(/(?<=.)\.git$/, '');
}

function notesOf(toplevel: string, branch: string | null, head: string | null): Problem[] {
  const notes: Problem[] = [];
  if (branch === null) {
    notes.push(
      problem(
        'git.detached',
        `${quoted(toplevel)} is on no branch${head === null ? '' : ` (at ${head.slice(0, 12)})`}`,
        'make a branch with "git switch -c NAME", so that others see what will collide',
      ),
    );
  }
  if (head === null) {
    notes.push(
      problem(
        'git.unborn',
        `${quoted(toplevel)} has no commit yet`,
        'make a first commit; until then there is no base to compare with',
      ),
    );
  }
  return notes;
}
