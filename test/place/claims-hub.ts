/** A hub with nothing but claims in it: what the git commands ask, answered over real HTTP from a list. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { GitClaim } from '../../src/place/auto-release.ts';
import { findOperation } from '../../src/wire/operations/table.ts';

export interface ClaimsHub {
  readonly url: string;
  readonly claims: GitClaim[];
  readonly released: { readonly task_id: string; readonly evidence: string }[];
  readonly taken: Record<string, unknown>[];
}

export async function openClaimsHub(): Promise<ClaimsHub> {
  const hub = {
    claims: [] as GitClaim[],
    released: [] as ClaimsHub['released'],
    taken: [] as ClaimsHub['taken'],
  };
  const answer = (operation: string, input: Record<string, unknown>, agent: string): unknown => {
    // An operation goes by its id and by its name.
    switch (findOperation(operation)?.name ?? operation) {
      case 'whoami':
        return { agent_id: agent };
      case 'claims_list': {
        const isAsked = (claim: GitClaim) =>
          (input.worktree === undefined || claim.worktree === input.worktree) &&
          (input.owner === undefined || claim.owner === input.owner);
        return { claims: hub.claims.filter(isAsked), next: null };
      }
      case 'claims_take':
        hub.taken.push(input);
        return { claim: { task_id: input.task_id, epoch: 1, lease_expires_at: 1 }, renewed: false };
      case 'claims_release':
        hub.released.push(input as unknown as ClaimsHub['released'][number]);
        return { task_id: input.task_id, released: true, was_owner: agent };
      default:
        throw new Error(`nobody taught this hub ${operation}`);
    }
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const operation = (request.url ?? '').split('/').at(-1) ?? '';
    const agent = String(request.headers['x-sox-agent-id']);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(operation, JSON.parse(text), agent)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { ...hub, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
