/**
 * The guard at the hooks: before an edit or a shell command, whose is what it would write?
 *
 * What another agent holds is refused, with who, which claim, how long, and what to do instead [GD2]; of
 * a shell command only what it writes without doubt counts [GD3]. Where a person set it so, what nobody
 * holds is claimed for the agent on first touch [GD4]. Whatever cannot be told is let through: this is a
 * guard rail and no sandbox, and the commit is checked again.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHoldings, type HeldClaim } from '../../place/holdings.ts';
import { judgeWrites } from '../../place/judge-writes.ts';
import type { Ground } from '../../place/place.ts';
import { isProblem } from '../../place/problem.ts';
import type { GuardSettings } from '../../wire/hook-settings.ts';
import { toolNameFor } from '../../wire/tool-names.ts';
import type { HarnessHub } from './harness-hub.ts';
import type { HookEvent } from './hook-event.ts';

export interface Guarded {
  readonly action: 'allow' | 'deny' | 'claimed';
  readonly reason: string;
}

export interface GuardDoor {
  judge(
    event: HookEvent,
    who: { readonly space: string; readonly agent: string },
    settings: GuardSettings,
  ): Promise<Guarded>;
}

const CLAIM_ID_CHARS_MAX = 64;
const NOBODY: Guarded = { action: 'allow', reason: 'nobody else holds anything' };

export function createGuardDoor(hub: HarnessHub, now: () => number = Date.now): GuardDoor {
  return {
    async judge(event, { space, agent }, { mode }) {
      const { paths, command, cwd } = event;
      if (mode === 'off') return { action: 'allow', reason: 'the guard is switched off' };
      if (paths.length === 0 && command === null) return { action: 'allow', reason: 'no writes' };
      if (mode === 'refuse' && !(await hub.hasClaimsOfOthers(space, agent))) return NOBODY;
      const ground = cwd === null ? null : await groundAt(cwd);
      if (ground === null) return { action: 'allow', reason: 'where it would write is not known' };
      const claimsIn = async (worktree: string): Promise<readonly HeldClaim[]> =>
        (await hub.claimsIn(space, worktree))?.map(asShown) ?? [];
      const asked = { ground, paths, command, me: agent, nowMs: now() };
      const judged = await judgeWrites(asked, claimsIn);
      if (isProblem(judged)) return { action: 'allow', reason: judged.message };
      if (judged.verdict === 'deny') {
        return { action: 'deny', reason: refusal(judged.reason, judged.remedy, event) };
      }
      if (mode !== 'claim') return { action: 'allow', reason: judged.reason };
      const claimed: string[] = [];
      for (const [worktree, writes] of judged.writes) {
        const holdersOf = createHoldings(await claimsIn(worktree));
        const free = writes
          .filter((write) => write.reach === 'file' && holdersOf(write).length === 0)
          // A name that would be read as a pattern claims more than was touched.
          .filter(({ path }) => path !== '.' && !/[*?[\]{}]/.test(path))
          .map(({ path }) => path);
        if (free.length === 0) continue;
        if (!(await hub.claim(space, agent, { worktree, paths: free }))) {
          const reason = 'another agent claimed it at the same moment';
          return { action: 'deny', reason: refusal(reason, null, event) };
        }
        claimed.push(...free);
      }
      if (claimed.length === 0) return { action: 'allow', reason: judged.reason };
      return { action: 'claimed', reason: `claimed on first touch: ${claimed.join(', ')}` };
    },
  };
}

/**
 * Where the agent stands, as the hub names worktrees: found by looking, because a hook cannot wait for
 * git. Null when the folder is not there.
 */
async function groundAt(cwd: string): Promise<Ground | null> {
  try {
    const folder = await realpath(cwd);
    for (let place = folder; ; place = dirname(place)) {
      const mark = await lstat(join(place, '.git')).catch(() => null);
      if (mark !== null) return { cwd: folder, repository: null, worktree: place };
      if (dirname(place) === place) return { cwd: folder, repository: null, worktree: folder };
    }
  } catch {
    return null;
  }
}

/** The id of a claim is another agent's words: short, and nothing in it can pass for ours. */
function asShown(claim: HeldClaim): HeldClaim {
  const id = claim.task_id.replace(/[^\w./:@#+-]/g, '_');
  const isLong = id.length > CLAIM_ID_CHARS_MAX;
  return { ...claim, task_id: isLong ? `${id.slice(0, CLAIM_ID_CHARS_MAX)}…` : id };
}

function refusal(reason: string, remedy: string | null, { vendor }: HookEvent): string {
  const take = toolNameFor(vendor, 'claims__take');
  const rest = remedy === null ? '' : ` What helps: ${remedy}, or work on another file.`;
  return `Synod: not written: ${reason}.${rest} ${take} with wait_ms waits for one's turn.`;
}
