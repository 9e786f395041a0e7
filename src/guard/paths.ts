/**
 * Whether a path may be read, written or deleted. Both sides are real paths: a root is looked up once, when
 * the guard is made, so that a link put in its place later opens nothing; what is asked is looked up each
 * time, links followed as the kernel follows them, what is missing by its nearest parent that is there [PO3].
 */
import { relativeTo } from '../place/place.ts';
import { isProblem } from '../place/problem.ts';
import { resolvePath } from '../place/resolve-path.ts';
import { allow, deny, type PathKind, type Ruling } from './decision.ts';
import type { Policy } from './policy.ts';

export interface Root {
  /** As the policy has it. */
  readonly said: string;
  /** Where that is. */
  readonly real: string;
}

export type Roots = Readonly<Record<PathKind | 'except', readonly Root[]>>;

export async function readRoots(policy: Required<Policy>, cwd: string): Promise<Roots> {
  const [read, write, del, except] = await Promise.all(
    [policy.read, policy.write, policy.delete, policy.except].map((paths) => rootsOf(paths, cwd)),
  );
  return { read: read ?? [], write: write ?? [], delete: del ?? [], except: except ?? [] };
}

async function rootsOf(paths: readonly string[], cwd: string): Promise<Root[]> {
  const roots: Root[] = [];
  for (const said of paths) {
    const real = await resolvePath(said, cwd);
    if (isProblem(real)) throw new Error(`the policy's ${said}: ${real.message}`);
    roots.push({ said, real });
  }
  return roots;
}

/** The last name of what is deleted is the entry itself; of what is read or written, what it leads to. */
export async function realPathOf(
  kind: PathKind,
  path: string,
  cwd: string,
): Promise<Ruling | string> {
  if (typeof path !== 'string') return deny(kind, String(path), 'guard.invalid', 'a path is text');
  const real = await resolvePath(path, cwd, { isFollowed: kind !== 'delete' });
  return isProblem(real) ? deny(kind, path, 'guard.invalid', real.message) : real;
}

/** `real` must be a real path. */
export function judgePath(kind: PathKind, real: string, roots: Roots): Ruling {
  const root = roots[kind].find((one) => relativeTo(one.real, real) !== null);
  if (root === undefined) {
    const why =
      roots[kind].length === 0
        ? `the policy allows nothing to ${kind}`
        : `it is below none of the folders that the policy allows to ${kind}`;
    return deny(kind, real, 'guard.no-rule', `${why}: add one to \`${kind}\``);
  }
  const isTaken = (one: Root): boolean =>
    relativeTo(one.real, real) !== null ||
    // With a folder goes what is in it.
    (kind === 'delete' && relativeTo(real, one.real) !== null);
  const except = roots.except.find(isTaken);
  if (except !== undefined) {
    return deny(kind, real, 'guard.except', `the policy takes out ${except.said}`);
  }
  return allow(kind, real, `${kind} ${root.said}`, { path: real });
}

/** What two lists of roots both cover: what a child of the guard has left, for the sandbox to bind. */
export function common(one: readonly Root[], two: readonly Root[]): Root[] {
  const both = one.flatMap((a) =>
    two.flatMap((b) => {
      if (relativeTo(a.real, b.real) !== null) return [b];
      return relativeTo(b.real, a.real) !== null ? [a] : [];
    }),
  );
  return both.filter((root, at) => both.findIndex(({ real }) => real === root.real) === at);
}
