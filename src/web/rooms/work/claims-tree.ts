/**
 * What is held, as a tree of files: one for each worktree, folders that lead nowhere else on one line, a glob
 * as the last name on its way. A claim on a whole worktree stands at its root. Pure; the tree is
 * bounded, and says how much was left out.
 */
import type { CallOutput } from '../../../client/index.ts';

export type Claim = CallOutput<'claims.list'>['claims'][number];

export interface Place {
  /** `src/core`, `claim.ts`, `**` + `/*.md`. */
  readonly name: string;
  /** From the root of the worktree. */
  readonly path: string;
  /** Who holds just this. */
  readonly claims: readonly Claim[];
  readonly places: readonly Place[];
}

export interface Worktree {
  /** As its holders named it; empty for work that touches no file. */
  readonly label: string;
  /** Who holds all of it, or no file at all. */
  readonly claims: readonly Claim[];
  readonly places: readonly Place[];
  /** Paths that are not shown. */
  readonly left: number;
}

/** Of one worktree. */
export const PLACES_MAX = 400;

interface Branch {
  readonly claims: Claim[];
  readonly names: Map<string, Branch>;
}

export function claimsTree(claims: readonly Claim[]): Worktree[] {
  const byLabel = Map.groupBy(claims, ({ worktree }) => worktree);
  const labels = [...byLabel.keys()].sort(
    (a, b) => Number(a === '') - Number(b === '') || (a < b ? -1 : 1),
  );
  return labels.map((label) => {
    const own = byLabel.get(label) ?? [];
    const root: Branch = { claims: [], names: new Map() };
    let shown = 0;
    let left = 0;
    for (const claim of own) {
      if (claim.paths.length === 0) root.claims.push(claim);
      for (const path of claim.paths) {
        if (shown++ < PLACES_MAX) put(root, path, claim);
        else left++;
      }
    }
    return { label, claims: root.claims, places: placesOf(root, ''), left };
  });
}

function put(root: Branch, path: string, claim: Claim): void {
  let at = root;
  for (const name of namesOf(path)) {
    const next: Branch = at.names.get(name) ?? { claims: [], names: new Map() };
    at.names.set(name, next);
    at = next;
  }
  at.claims.push(claim);
}

/** A glob and what follows it is one name: there is no folder of that name. */
function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  const glob = names.findIndex((name) => /[*?[\]{}]/.test(name));
  if (glob < 0) return names;
  return [...names.slice(0, glob), names.slice(glob).join('/')];
}

function placesOf(branch: Branch, path: string): Place[] {
  const sorted = [...branch.names].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([first, child]) => {
    let name = first;
    let at = child;
    for (;;) {
      const [only, ...others] = at.names;
      if (only === undefined || others.length > 0 || at.claims.length > 0) break;
      name = `${name}/${only[0]}`;
      at = only[1];
    }
    const whole = path === '' ? name : `${path}/${name}`;
    return { name, path: whole, claims: at.claims, places: placesOf(at, whole) };
  });
}
