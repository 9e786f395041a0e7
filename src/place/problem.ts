/**
 * What can stand in the way on disk, as a value: a code for programs, a sentence for people, and
 * what to do about it. Nothing in this folder throws for a repository that is not as hoped [GI1].
 */
import { HIDDEN, written } from '../core/law/hidden.ts';

export type ProblemCode =
  | 'git.missing'
  | 'git.not-a-repository'
  | 'git.no-such-folder'
  | 'git.bare'
  | 'git.inside-git-folder'
  | 'git.not-yours'
  | 'git.detached'
  | 'git.unborn'
  | 'git.timeout'
  | 'git.too-much'
  | 'git.failed'
  | 'git.unknown-revision'
  | 'path.invalid'
  | 'path.escapes'
  | 'path.other-repository'
  | 'path.git-internal'
  | 'path.loop'
  | 'path.two-names'
  | 'hook.global'
  | 'hook.elsewhere'
  | 'hook.edited'
  | 'hook.no-command'
  | 'hook.two-kept'
  | 'hook.unwritable';

export interface Problem {
  readonly problem: ProblemCode;
  readonly message: string;
  readonly remedy: string;
}

export function problem(code: ProblemCode, message: string, remedy: string): Problem {
  return { problem: code, message, remedy };
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value && 'remedy' in value;
}

/** A path or name as a sentence may hold it: quoted, on one line, not without end. */
export function quoted(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return JSON.stringify(short).replace(HIDDEN, written);
}
