/**
 * Scopes: what a claim covers. A scope is a worktree (a canonical label, opaque here), the
 * branch it is on, and paths in it, which may be files, folders or globs; no paths at all
 * mean the whole worktree. A path that cannot be taken as it is meant is refused with what
 * to do; a scope is never widened in silence [SC2].
 */
import { assert } from '../../law/assert.ts';
import { type Refusal, refuse } from '../../law/decider.ts';
import {
  ALTERNATIVES_PER_PATH_MAX,
  compilePath,
  type PathPattern,
  type PathProblem,
  SET_CHARS_MAX,
  WHOLE,
} from './scope-pattern.ts';

export interface Scope {
  readonly worktree: string;
  readonly branch: string | null;
  /** Normalised, in the caller's spelling; none for the whole worktree. */
  readonly paths: readonly string[];
  /** Where it lies `Makefile` and `makefile` were seen to be two files; else they count as one [SC3]. */
  readonly isExact?: true;
}

export const PATHS_PER_SCOPE_MAX = 512;
export const PATH_CHARS_MAX = 4096;
/** A glob with its braces multiplied out: one path, and all of a scope together. */
export const GLOB_CHARS_MAX = 256;
export const SCOPE_GLOB_CHARS_MAX = 4096;
export const WORKTREE_CHARS_MAX = 4096;
export const BRANCH_CHARS_MAX = 512;

/** Control, format, private and unassigned characters, lone surrogates, line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Plain text, which most paths are, and quickly told. */
const PLAIN = /^[\x20-\x7e]*$/;

function isPrintable(text: string): boolean {
  return PLAIN.test(text) || !UNPRINTABLE.test(text);
}

export function parseScope(raw: Scope): Scope | Refusal {
  const { worktree, branch } = raw;
  if (worktree.length > WORKTREE_CHARS_MAX || !isPrintable(worktree)) {
    return refuse(
      'scope.invalid',
      `a worktree label has at most ${WORKTREE_CHARS_MAX} characters, all printable`,
      { field: 'worktree' },
    );
  }
  if (branch !== null && (branch.length > BRANCH_CHARS_MAX || !isPrintable(branch))) {
    return refuse(
      'scope.invalid',
      `a branch has at most ${BRANCH_CHARS_MAX} characters, all printable`,
      { field: 'branch' },
    );
  }
  const parsed = parsePaths(raw.paths);
  if ('refused' in parsed) return parsed;
  return { worktree, branch, paths: parsed.paths, ...(raw.isExact && { isExact: true }) };
}

export function parsePaths(
  raw: readonly string[],
): { readonly paths: readonly string[] } | Refusal {
  const patterns = new Map<string, PathPattern>();
  let globChars = 0;
  for (const [index, path] of raw.entries()) {
    const pattern = parsePath(path, index);
    if ('refused' in pattern) return pattern;
    if (patterns.has(pattern.text)) continue;
    patterns.set(pattern.text, pattern);
    if (patterns.size > PATHS_PER_SCOPE_MAX) {
      return refuse(
        'scope.too-many',
        `a scope has at most ${PATHS_PER_SCOPE_MAX} paths; claim the folders above them, or send none for the whole worktree`,
        { limit: 'PATHS_PER_SCOPE_MAX', max: PATHS_PER_SCOPE_MAX },
      );
    }
    if (pattern.isGlob) globChars += weightOf(pattern);
    if (globChars > SCOPE_GLOB_CHARS_MAX) {
      return tooComplex(path, index, 'SCOPE_GLOB_CHARS_MAX', SCOPE_GLOB_CHARS_MAX);
    }
  }
  const paths = [...patterns.keys()];
  compiled.set(paths, patterns.size === 0 ? [WHOLE] : [...patterns.values()]);
  return { paths };
}

/** The patterns of paths that were parsed before, perhaps in another life of the hub. */
export function patternsOf(
  paths: readonly string[],
  isExact: boolean | undefined = false,
): readonly PathPattern[] {
  if (isExact) return exactPatternsOf(paths);
  let patterns = compiled.get(paths);
  if (patterns === undefined) {
    patterns = paths.length === 0 ? [WHOLE] : paths.map(compileKnown);
    compiled.set(paths, patterns);
  }
  return patterns;
}

/** A glob may reach where nobody looked, so that only plain paths are compared as they are spelt. */
function exactPatternsOf(paths: readonly string[]): readonly PathPattern[] {
  let patterns = exact.get(paths);
  if (patterns === undefined) {
    patterns = patternsOf(paths).map((pattern) =>
      pattern.isGlob ? pattern : { ...pattern, exact: pattern.text.split('/').filter(Boolean) },
    );
    exact.set(paths, patterns);
  }
  return patterns;
}

/** Only a shortcut: the same texts always give the same patterns. */
const compiled = new WeakMap<readonly string[], readonly PathPattern[]>();
const exact = new WeakMap<readonly string[], readonly PathPattern[]>();

function compileKnown(path: string): PathPattern {
  const pattern = compilePath(path);
  assert(!('problem' in pattern), `a recorded path was never parsed: ${path}`);
  return pattern;
}

function parsePath(raw: string, index: number): PathPattern | Refusal {
  const at = { path: raw.slice(0, 200), index };
  if (raw.trim() === '') {
    return refuse(
      'scope.invalid',
      `path ${index} is empty; leave it out, or send no paths to claim the whole worktree`,
      at,
    );
  }
  if (raw.length > PATH_CHARS_MAX) {
    return refuse(
      'scope.too-long',
      `path ${index} has ${raw.length} characters, at most ${PATH_CHARS_MAX} are taken; claim a folder above it`,
      { ...at, limit: 'PATH_CHARS_MAX', max: PATH_CHARS_MAX },
    );
  }
  if (!isPrintable(raw)) {
    return refuse(
      'scope.invalid',
      `path ${index} holds a character that cannot be printed; claim the folder above it`,
      { path: raw.slice(0, 200).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd'), index },
    );
  }
  if (raw.includes('\\')) {
    return refuse(
      'scope.invalid',
      `path ${index} holds a backslash; write / between folders, and [*] for a plain *`,
      at,
    );
  }
  const pattern = compilePath(raw.normalize('NFC'));
  if ('problem' in pattern) return refuseProblem(pattern.problem, at.path, index);
  if (pattern.isGlob && weightOf(pattern) > GLOB_CHARS_MAX) {
    return tooComplex(at.path, index, 'GLOB_CHARS_MAX', GLOB_CHARS_MAX);
  }
  return pattern;
}

function refuseProblem(problem: PathProblem['problem'], path: string, index: number): Refusal {
  const at = { path, index };
  switch (problem) {
    case 'absolute':
      return refuse(
        'scope.absolute',
        `${path} is absolute; write it relative to the root of the worktree`,
        at,
      );
    case 'escape':
      return refuse(
        'scope.escape',
        `${path} leaves the worktree; claim it in the worktree it lies in`,
        at,
      );
    case 'root':
      return refuse(
        'scope.invalid',
        `${path} is the root of the worktree; send no paths to claim the whole of it`,
        at,
      );
    case 'dots-after-glob':
      return refuse(
        'scope.invalid',
        `${path} goes up from a wildcard; write the folder it means`,
        at,
      );
    case 'too-many-alternatives':
      return tooComplex(path, index, 'ALTERNATIVES_PER_PATH_MAX', ALTERNATIVES_PER_PATH_MAX);
    case 'too-wide-set':
      return tooComplex(path, index, 'SET_CHARS_MAX', SET_CHARS_MAX);
  }
}

function tooComplex(path: string, index: number, limit: string, max: number): Refusal {
  return refuse(
    'scope.too-complex',
    `${path.slice(0, 200)} makes the scope too complex (${limit} is ${max}); use a shorter glob or the folder above`,
    { path: path.slice(0, 200), index, limit, max },
  );
}

function weightOf(pattern: PathPattern): number {
  let weight = 0;
  for (const segments of pattern.alternatives) {
    for (const segment of segments) {
      if (segment.kind === 'deep') weight++;
      else if (segment.kind === 'name') weight += segment.key.length + 1;
      else for (const tokens of segment.variants) weight += tokens.length + 1;
    }
  }
  return weight;
}
