/** The live claims of the hub, all pages of them, and who the hub takes us for. */
import type { CallOutput } from '../client/operations.ts';
import { pathsFrom } from '../core/work/claim/scope-across.ts';
import type { Call } from './context.ts';

export type ClaimView = CallOutput<'claims.list'>['claims'][number];

const PAGE = 500;
/** A hub that never says it was the last page is left in the end. */
const PAGES_MAX = 400;

export async function readClaims(
  call: Call,
  filter: {
    readonly worktree?: string;
    readonly owner?: string;
    readonly offered_to?: string;
  } = {},
): Promise<ClaimView[]> {
  const claims: ClaimView[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await call('claims.list', { ...filter, after, limit: PAGE });
    claims.push(...answer.claims);
    if (typeof answer.next !== 'string') break;
    after = answer.next;
  }
  return claims;
}

/** Those that cover something in a worktree, in its terms, also where they were named from one around it [SC8]. */
export async function readClaimsFrom(call: Call, worktree: string): Promise<ClaimView[]> {
  const claims = await readClaims(call);
  return claims.flatMap((claim) => {
    if (claim.worktree === worktree) return [claim];
    if (!claim.worktree) return [];
    const scope = { worktree: claim.worktree, branch: null, paths: [...(claim.paths ?? [])] };
    const paths = pathsFrom(worktree, scope);
    return paths === null ? [] : [{ ...claim, paths: [...paths] }];
  });
}

export async function readMe(call: Call): Promise<string> {
  return (await call('hub.whoami', {})).agent_id;
}
