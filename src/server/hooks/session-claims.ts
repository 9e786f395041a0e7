/**
 * What a session that ends leaves behind: its claims lapse soon instead of in an hour or a day, and go to
 * whoever waits; a session that is resumed before has its time back [WK6]. The agent does both itself, as
 * far as the law can see: it renews, for a short while or for the usual one.
 */
import { isRefusal } from '../../core/law/decider.ts';
import { TTL_MS_DEFAULT } from '../../core/work/claim/claim-limits.ts';
import type { Claim } from '../../core/work/claim/claim-state.ts';
import { claimTake } from '../../wire/operations/claims.ts';
import type { Desk } from '../desk/desk.ts';
import type { Attention } from './attention.ts';

const GRACE_MS = 600_000;

export async function shortenClaims(desk: Desk, attention: Attention): Promise<void> {
  await renew(desk, attention, GRACE_MS / 1000, ({ dueAt }, at) => dueAt > at + GRACE_MS);
}

export async function keepClaims(desk: Desk, attention: Attention): Promise<void> {
  await renew(desk, attention, TTL_MS_DEFAULT / 1000, ({ ttlMs }) => ttlMs === GRACE_MS);
}

async function renew(
  desk: Desk,
  { hub, caller, agent }: Attention,
  ttl_seconds: number,
  isMeant: (claim: Claim, at: number) => boolean,
): Promise<void> {
  if (hub === null || caller === null) return;
  const at = hub.stamp();
  const mine = await hub.ask((world) => {
    if (!world.claims.counts.has(agent)) return [];
    return [...world.claims.claims.values()]
      .filter((claim) => claim.owner === agent && isMeant(claim, at))
      .map(({ id }) => id);
  });
  if (isRefusal(mine)) return;
  for (const task_id of mine) await desk.call(caller, claimTake, { task_id, ttl_seconds });
}
