/** The live claims of the hub, all pages of them, and who the hub takes us for. */
import type { CallOutput } from '../client/operations.ts';
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

export async function readMe(call: Call): Promise<string> {
  return (await call('hub.whoami', {})).agent_id;
}
