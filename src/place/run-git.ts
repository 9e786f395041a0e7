/**
 * Runs the git binary: no shell, a deadline, bounded output, and an environment in which only the
 * folder decides which repository is meant [GI2]. A hook that git itself started is told of one
 * repository by GIT_DIR and its kin, and would answer about it wherever it is asked.
 */
import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { type Problem, problem, quoted } from './problem.ts';

export const GIT_TIMEOUT_MS = 10_000;
export const GIT_OUTPUT_BYTES_MAX: number = 32 * 1024 * 1024;
const STDERR_CHARS_MAX = 4_000;

/** What of git's own variables says how it is installed, not which repository is meant. */
const KEPT = new Set([
  'GIT_EXEC_PATH',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
]);

/** Whatever the repository's settings say: names as they are, and no program of its choosing run. */
const SETTINGS = ['-c', 'core.quotepath=off', '-c', 'core.fsmonitor=false', '--no-pager'];

export interface GitOptions {
  /** The index to read; a commit under way may use one of its own. */
  readonly indexFile?: string | undefined;
  readonly timeoutMs?: number;
  readonly outputBytesMax?: number;
}

export interface GitAnswer {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An exit code that is not zero is an answer; only what kept git from answering is a problem. */
export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitAnswer | Problem> {
  const { timeoutMs = GIT_TIMEOUT_MS, outputBytesMax = GIT_OUTPUT_BYTES_MAX } = options;
  const env = gitEnvironment(options.indexFile);
  const { promise, resolve } = Promise.withResolvers<GitAnswer | Problem>();
  const child = spawn('git', [...SETTINGS, ...args], { cwd, env, windowsHide: true });
  const what = `git ${args[0]}`;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let stderr = '';
  let cut: Problem | null = null;
  let isStarted = true;
  const end = (why: Problem): void => {
    cut ??= why;
    child.kill('SIGKILL');
    // A child of git's may hold the pipes open; nobody waits for it.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const timer = setTimeout(() => end(tooSlow(what, cwd, timeoutMs)), timeoutMs);
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > outputBytesMax) end(tooMuch(what, outputBytesMax));
    else chunks.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < STDERR_CHARS_MAX) stderr += text;
  });
  // Git may leave before it has read all we say; what it answers counts.
  child.stdin.on('error', () => {});
  child.stdin.end();
  child.on('error', (cause: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    isStarted = false;
    whyNotStarted(cwd, cause).then(resolve, resolve);
  });
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    if (!isStarted) return;
    const died = { exit: code ?? 128, stderr: code === null ? `killed by ${signal}` : stderr };
    resolve(cut ?? { ...died, stdout: Buffer.concat(chunks).toString('utf8') });
  });
  return promise;
}

/** What git printed, or why it would not. */
export async function askGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string | Problem> {
  const answer = await runGit(cwd, args, options);
  if ('problem' in answer) return answer;
  return answer.exit === 0 ? answer.stdout : failed(args, answer);
}

export function failed(args: readonly string[], answer: GitAnswer): Problem {
  const [line = ''] = answer.stderr.trim().split('\n');
  return problem(
    'git.failed',
    `git ${args[0]} failed (${answer.exit})${line === '' ? '' : `: ${line}`}`,
    'run "git status" there and mend what it says',
  );
}

/** The pieces of -z output. */
export function splitNul(text: string): string[] {
  const pieces = text.split('\0');
  pieces.pop();
  return pieces;
}

function gitEnvironment(indexFile: string | undefined): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GIT_') || KEPT.has(name),
  );
  return {
    ...Object.fromEntries(own),
    // Messages are read by us, so they must be in one language; names stay bytes all the same.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }),
  };
}

/** A missing folder and a missing binary are the same ENOENT to whoever starts a process. */
async function whyNotStarted(cwd: string, cause: NodeJS.ErrnoException): Promise<Problem> {
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    return problem(
      'git.no-such-folder',
      `there is no folder ${quoted(cwd)}`,
      'name a folder that is there',
    );
  }
  return problem(
    'git.missing',
    `git could not be started (${cause.code ?? cause.message})`,
    'install git, or put it on PATH',
  );
}

function tooSlow(what: string, cwd: string, timeoutMs: number): Problem {
  return problem(
    'git.timeout',
    `${what} in ${quoted(cwd)} did not answer within ${timeoutMs / 1000} s`,
    'try again; if it stays so, run it by hand and see what it waits for',
  );
}

function tooMuch(what: string, bytesMax: number): Problem {
  return problem(
    'git.too-much',
    `${what} answered more than ${bytesMax} bytes`,
    'ask about fewer changes, for example a nearer base',
  );
}
