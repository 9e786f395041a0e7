/**
 * One file, one holder, whichever repository it was named from [SC8]. A worktree's label is the real
 * path of its top; when a repository is made or taken away below it, the same file gets a second label.
 * So a path named plainly is compared by where it lies under every label above and below it. A glob, a
 * folder above the other repository and a whole worktree mean the files of their own worktree alone
 * [WK3], and are compared there.
 */
import { patternsOf, type Scope } from './scope.ts';
import type { Found, Search, Searchable } from './scope-index.ts';
import { foldPath, namesOf, type PathPattern, type Segment, WHOLE } from './scope-pattern.ts';

export function findAcross<Holder>(
  indexes: ReadonlyMap<string, Searchable<Holder>>,
  scope: Scope,
  search: Search<Holder> = {},
): Found<Holder>[] {
  const { worktree, paths, isExact } = scope;
  const patterns = patternsOf(paths, isExact);
  const own = indexes.get(worktree);
  const found = own?.find(patterns, search) ?? [];
  const others = indexes.size - (own === undefined ? 0 : 1);
  if (others === 0 || !worktree.startsWith('/')) return found;
  const limit = search.limit ?? Number.POSITIVE_INFINITY;
  for (const [index, asked, wish] of besides(indexes, worktree, patterns)) {
    if (found.length >= limit) break;
    found.push(...index.find(asked, { ...search, ...wish, limit: limit - found.length }));
  }
  return found;
}

type Asked<Holder> = readonly [Searchable<Holder>, readonly PathPattern[], Search<Holder>];

function* besides<Holder>(
  indexes: ReadonlyMap<string, Searchable<Holder>>,
  worktree: string,
  patterns: readonly PathPattern[],
): Generator<Asked<Holder>> {
  for (const [label, rest] of labelsAbove(worktree)) {
    const index = indexes.get(label);
    if (index === undefined) continue;
    const fits = (pattern: PathPattern): boolean =>
      !pattern.isGlob && (pattern.alternatives[0]?.length ?? 0) >= rest.length;
    const way = namesOf(worktree.slice(label === '/' ? 1 : label.length + 1));
    yield [index, patterns.map((pattern) => below(way, rest, pattern)), { fits }];
  }
  for (const pattern of patterns) {
    if (pattern.isGlob) continue;
    let label = worktree === '/' ? '' : worktree;
    for (const [i, name] of pattern.text.split('/').entries()) {
      label += `/${name}`;
      const index = indexes.get(label);
      if (index !== undefined) yield [index, [from(i + 1, pattern)], {}];
    }
  }
}

/** Every folder above, with the folded names that lead down from there. */
function* labelsAbove(worktree: string): Generator<readonly [string, readonly string[]]> {
  for (let at = worktree.lastIndexOf('/'); at >= 0; at = worktree.lastIndexOf('/', at - 1)) {
    if (worktree === '/') return;
    yield [worktree.slice(0, at) || '/', foldPath(worktree.slice(at + 1))];
    if (at === 0) return;
  }
}

function below(way: readonly string[], rest: readonly string[], pattern: PathPattern): PathPattern {
  const down: Segment[] = rest.map((key) => ({ kind: 'name', key }));
  const alternatives =
    pattern === WHOLE ? [down] : pattern.alternatives.map((segments) => [...down, ...segments]);
  const { exact } = pattern;
  return { ...pattern, alternatives, ...(exact && { exact: [...way, ...exact] }) };
}

function from(depth: number, pattern: PathPattern): PathPattern {
  const [segments = []] = pattern.alternatives;
  if (segments.length <= depth) return { ...WHOLE, text: pattern.text };
  const { exact } = pattern;
  const alternatives = [segments.slice(depth)];
  return { ...pattern, alternatives, ...(exact && { exact: exact.slice(depth) }) };
}

/** What a scope means in the terms of another worktree; null when nothing of it lies there. */
export function pathsFrom(worktree: string, scope: Scope): readonly string[] | null {
  if (scope.worktree === worktree) return scope.paths;
  if (!worktree.startsWith('/') || !scope.worktree.startsWith('/')) return null;
  const rest = restOf(scope.worktree, worktree);
  if (rest !== null) {
    return scope.paths.length === 0 ? [`${rest}/`] : scope.paths.map((path) => `${rest}/${path}`);
  }
  const way = restOf(worktree, scope.worktree);
  if (way === null) return null;
  const lead = foldPath(way);
  const inside = patternsOf(scope.paths).filter(({ isGlob, text }) => {
    const names = foldPath(text);
    return !isGlob && lead.every((name, i) => names[i] === name);
  });
  if (inside.length === 0) return null;
  const paths = inside.map(({ text }) => text.split('/').slice(lead.length).join('/'));
  return paths.includes('') ? [] : paths;
}

/** The way down from one folder to another that is below it. */
function restOf(full: string, above: string): string | null {
  const start = above === '/' ? '/' : `${above}/`;
  return full.length > start.length && full.startsWith(start) ? full.slice(start.length) : null;
}
