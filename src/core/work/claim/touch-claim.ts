/**
 * Which claim a touched file goes to: one claim for an agent in a worktree, that grows
 * with every file; when it is full, the next.
 */
import type { View } from '../../law/view.ts';
import type { ClaimBook } from './claim-state.ts';
import { PATHS_PER_SCOPE_MAX } from './scope.ts';

/** How many claims of one agent in one worktree may come from touching files. */
const TOUCH_CLAIMS_MAX = 16;

/** The id to take and all its paths, or null when every claim is full. `label` stands for the worktree. */
export function touchClaim(
  book: View<ClaimBook>,
  agent: string,
  label: string,
  paths: readonly string[],
): { readonly id: string; readonly paths: string[] } | null {
  for (let number = 1; number <= TOUCH_CLAIMS_MAX; number++) {
    const id = `touch:${agent}:${label}:${number}`;
    const known = book.claims.get(id);
    if (known !== undefined && known.owner !== agent) continue;
    const all = new Set([...(known?.scope?.paths ?? []), ...paths]);
    if (all.size <= PATHS_PER_SCOPE_MAX) return { id, paths: [...all] };
  }
  return null;
}
