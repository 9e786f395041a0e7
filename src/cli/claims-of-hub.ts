/** The live claims of the hub, all pages of them, and who the hub takes us for. */
import type { GitClaim } from '../place/auto-release.ts';
import { type Context, given } from './context.ts';

const PAGE = 500;
/** A hub that never says it was the last page is left in the end. */
const PAGES_MAX = 400;

export async function readClaims(
  call: Context<object>['call'],
  filter: { readonly worktree?: string; readonly owner?: string } = {},
): Promise<GitClaim[]> {
  const claims: GitClaim[] = [];
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await call('claims_list', given({ ...filter, after, limit: PAGE }));
    claims.push(...(answer.claims as GitClaim[]));
    if (typeof answer.next !== 'string') break;
    after = answer.next;
  }
  return claims;
}

export async function readMe(call: Context<object>['call']): Promise<string> {
  return String((await call('whoami', {})).agent_id);
}
