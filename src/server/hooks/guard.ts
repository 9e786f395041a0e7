/**
 * The guard at the hooks: before an edit or a shell command, whose is what it would write?
 *
 * What another agent holds is refused, with who, which claim, how long, and what to do instead [GD2]; of
 * a shell command only what it writes without doubt counts [GD3]. Where a person set it so, what nobody
 * holds is claimed for the agent on first touch [GD4]. Whatever cannot be told is let through: this is a
 * guard rail and no sandbox, and the commit is checked again.
 */
import { createHash } from 'node:crypto';
import { isRefusal } from '../../core/law/decider.ts';
import { goneSince } from '../../core/talk/presence.ts';
import { viewClaim } from '../../core/work/claim/claim-state.ts';
import { pathsFrom } from '../../core/work/claim/scope-across.ts';
import { touchClaim } from '../../core/work/claim/touch-claim.ts';
import type { Hub } from '../../hub/hub.ts';
import { createHoldings, type HeldClaim } from '../../place/holdings.ts';
import { judgeWrites } from '../../place/judge-writes.ts';
import { findGround } from '../../place/place.ts';
import { isProblem } from '../../place/problem.ts';
import type { GuardSettings } from '../../wire/hook-settings.ts';
import { claimTake } from '../../wire/operations/claims.ts';
import { toolNameFor } from '../../wire/tool-names.ts';
import type { Desk } from '../desk/desk.ts';
import type { Attention } from './attention.ts';
import type { HookEvent } from './hook-event.ts';

export interface Guarded {
  readonly action: 'allow' | 'deny' | 'claimed';
  readonly reason: string;
}

/** What refuses a claim because another agent has it by now. */
const TAKEN: ReadonlySet<unknown> = new Set(['claim.held', 'claim.overlap', 'claim.reserved']);
const CLAIM_ID_CHARS_MAX = 64;
const NOBODY: Guarded = { action: 'allow', reason: 'nobody else holds anything' };

export async function guardWrites(
  desk: Desk,
  event: HookEvent,
  attention: Attention,
  { mode }: GuardSettings,
): Promise<Guarded> {
  const { paths, command, cwd } = event;
  const { hub, agent } = attention;
  if (mode === 'off') return { action: 'allow', reason: 'the guard is switched off' };
  if (paths.length === 0 && command === null) return { action: 'allow', reason: 'no writes' };
  if (hub === null || (mode === 'refuse' && !(await hasClaimsOfOthers(hub, agent)))) return NOBODY;
  const ground = cwd === null ? null : await findGround(cwd);
  if (ground === null) return { action: 'allow', reason: 'where it would write is not known' };
  const asked = { ground, paths, command, me: agent, nowMs: Date.now() };
  const judged = await judgeWrites(asked, (worktree) => claimsIn(hub, worktree));
  if (isProblem(judged)) return { action: 'allow', reason: judged.message };
  if (judged.verdict === 'deny') {
    return { action: 'deny', reason: refusal(judged.reason, judged.remedy, event) };
  }
  if (mode !== 'claim') return { action: 'allow', reason: judged.reason };
  const claimed: string[] = [];
  for (const [worktree, writes] of judged.writes) {
    const holdersOf = createHoldings(await claimsIn(hub, worktree));
    const free = writes
      .filter((write) => write.reach === 'file' && holdersOf(write).length === 0)
      // A name that would be read as a pattern claims more than was touched.
      .filter(({ path }) => path !== '.' && !/[*?[\]{}]/.test(path))
      .map(({ path }) => path);
    if (free.length === 0) continue;
    if (!(await claimTouched(desk, attention, worktree, free))) {
      const reason = 'another agent claimed it at the same moment';
      return { action: 'deny', reason: refusal(reason, null, event) };
    }
    claimed.push(...free);
  }
  if (claimed.length === 0) return { action: 'allow', reason: judged.reason };
  return { action: 'claimed', reason: `claimed on first touch: ${claimed.join(', ')}` };
}

async function hasClaimsOfOthers(hub: Hub, agent: string): Promise<boolean> {
  const has = await hub.ask((world) => {
    for (const { owner, scope } of world.claims.claims.values()) {
      if (owner !== agent && scope !== null) return true;
    }
    return false;
  });
  return has === true;
}

async function claimsIn(hub: Hub, worktree: string): Promise<readonly HeldClaim[]> {
  const at = hub.stamp();
  const held = await hub.ask((world) =>
    [...world.claims.claims.values()].flatMap((claim): HeldClaim[] => {
      const paths = claim.scope === null ? null : pathsFrom(worktree, claim.scope);
      if (paths === null) return [];
      const { id, owner, lapsesAt } = viewClaim(claim);
      const since = goneSince(world, owner, at);
      const shown = {
        ...{ task_id: asShown(id), owner, paths, lease_expires_at: lapsesAt / 1000 },
        case_sensitive: claim.scope?.isExact,
      };
      return [since === null ? shown : { ...shown, gone_since: since / 1000 }];
    }),
  );
  return isRefusal(held) ? [] : held;
}

/** False when somebody else has it by now; whatever else fails is no reason to refuse a write. */
async function claimTouched(
  desk: Desk,
  { hub, caller, agent }: Attention,
  worktree: string,
  paths: readonly string[],
): Promise<boolean> {
  if (hub === null || caller === null) return true;
  const label = createHash('sha256').update(worktree).digest('hex').slice(0, 8);
  const chosen = await hub.ask((world) => touchClaim(world.claims, agent, label, paths));
  if (isRefusal(chosen) || chosen === null) return true;
  const scope = { task_id: chosen.id, worktree, paths: chosen.paths };
  const note = 'claimed on first touch';
  const answer = await desk.call(caller, claimTake, { ...scope, note });
  return !('error' in answer) || !TAKEN.has(answer.error.detail?.reason);
}

/** The id of a claim is another agent's words: short, and nothing in it can pass for ours. */
function asShown(claimId: string): string {
  const id = claimId.replace(/[^\w./:@#+-]/g, '_');
  return id.length > CLAIM_ID_CHARS_MAX ? `${id.slice(0, CLAIM_ID_CHARS_MAX)}…` : id;
}

function refusal(reason: string, remedy: string | null, { vendor }: HookEvent): string {
  const take = toolNameFor(vendor, 'claims__take');
  const rest = remedy === null ? '' : ` What helps: ${remedy}, or work on another file.`;
  return `Synod: not written: ${reason}.${rest} ${take} with wait_ms waits for one's turn.`;
}
