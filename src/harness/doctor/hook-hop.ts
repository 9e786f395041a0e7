/**
 * The hooks: a message waits for the canary, a session of the vendor begins, and the registered hook must
 * bring it, with a receipt that says so [DO5]. Then the witness claims a file that nobody else knows of,
 * and the same hooks must keep the canary from writing it, and no longer once it is given back [DO6].
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { dmName } from '../../core/law/name.ts';
import { readGround } from '../../place/place.ts';
import { isProblem } from '../../place/problem.ts';
import type { DoorSettings } from '../../wire/hook-settings.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { canaryBody, canaryName, type DoctorHub, isRefused, stateFor, WITNESS } from './canary.ts';
import type { Fired, HookRunner } from './hook-run.ts';
import { type Found, fail, inMs, ok, warn } from './hop.ts';
import { MOMENTS } from './moments.ts';

const HOOK_GOAL_MS = 50;
/** How often the harmless event is repeated, so that one slow turn of the machine is not the measure. */
const TIMES = 5;
const CANARY_TTL_MS = 60_000;
const CLAIM_TTL_S = 60;

export interface HookCanary {
  readonly vendor: Vendor;
  readonly hub: DoctorHub;
  readonly hooks: HookRunner;
  readonly mark: string;
  readonly settings: DoorSettings;
  /** Where the hooks look for a hub. */
  readonly hookDir: string;
}

/** A word that waits for the canary; its id, or why there is none. */
export async function leaveWord(
  { vendor, hub }: Pick<HookCanary, 'vendor' | 'hub'>,
  mark: string,
): Promise<{ readonly id: string } | { readonly problem: string }> {
  const sent = await hub.call(WITNESS, 'channels.send', {
    channel: dmName(WITNESS, canaryName(vendor)),
    body: canaryBody(mark),
    ttl_ms: CANARY_TTL_MS,
  });
  return isRefused(sent) ? { problem: sent.message } : { id: sent.answer.message_id };
}

/** What is owed to the canary, taken and forgotten. */
export async function clearInbox({
  vendor,
  hub,
}: Pick<HookCanary, 'vendor' | 'hub'>): Promise<void> {
  await hub.call(canaryName(vendor), 'channels.recv', { max_messages: 500 });
}

export async function receiptOf(
  { vendor, hub }: Pick<HookCanary, 'vendor' | 'hub'>,
  id: string,
): Promise<string> {
  return stateFor(canaryName(vendor), hub, WITNESS, id);
}

export async function tryHook(canary: HookCanary): Promise<Found> {
  const { vendor, hooks, mark } = canary;
  const words = MOMENTS[vendor];
  await clearInbox(canary);
  const left = await leaveWord(canary, mark);
  if ('problem' in left)
    return fail('hook', `no word could be left: ${left.problem}`, 'synod status');
  try {
    const greeted = await hooks.fire(words.greet, { source: 'startup' });
    const told = words.told(greeted.answer);
    if (told === null) return silentHook(canary, words.greet, greeted);
    if (!told.includes(mark)) {
      return fail(
        'hook',
        `the hub answered ${words.greet}, but did not show a message that waits`,
        'see logs/decisions.jsonl in the data directory',
      );
    }
    const state = await receiptOf(canary, left.id);
    if (state !== 'presented') {
      const message = `the hook showed a message, and its receipt says ${state} instead of presented`;
      return fail(
        'hook',
        message,
        'this is a fault of the hub: please report it, with the version',
      );
    }
    return await timeHook(canary);
  } finally {
    await clearInbox(canary);
  }
}

async function timeHook({ vendor, hooks }: HookCanary): Promise<Found> {
  const words = MOMENTS[vendor];
  const times: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const fired = await hooks.fire(words.before, {
      ...{ tool_name: 'Read', tool_input: {}, tool_use_id: `doctor-read-${i}` },
    });
    if (fired.trouble !== null) {
      return fail('hook', fired.trouble, `synod install ${vendor}, or look at the line by hand`);
    }
    times.push(fired.ms);
  }
  const ms = times.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0;
  const took = `it answers in ${inMs(ms)}`;
  if (ms <= HOOK_GOAL_MS) return ok('hook', `brought a message that waited; ${took}`, ms);
  const message = `brought a message that waited, but ${took}, where ${HOOK_GOAL_MS} ms is the goal`;
  return { ...warn('hook', message, 'look again when the machine is less busy'), ms };
}

function silentHook({ vendor, hookDir }: HookCanary, event: string, fired: Fired): Found {
  if (fired.trouble !== null) {
    return fail('hook', `${event}: ${fired.trouble}`, `synod install ${vendor}`);
  }
  return fail(
    'hook',
    `${event} was run as registered, and nothing came back from the hub of ${hookDir}`,
    'synod verify says whether the script is whole; synod status whether that hub runs',
  );
}

export async function tryGuard(canary: HookCanary): Promise<Found> {
  const { vendor, hub, mark, settings } = canary;
  if (settings.guard.mode === 'off') {
    return warn(
      'guard',
      'the guard is switched off: agents may write what others hold',
      'set [guard] mode = "refuse" in policy.toml of the data directory',
    );
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'synod-doctor-')));
  const task_id = `doctor:${vendor}:${mark}`;
  try {
    const ground = await readGround(folder);
    if (isProblem(ground)) return fail('guard', `cannot judge: ${ground.message}`, ground.remedy);
    const file = join(folder, 'held.txt');
    const path = relative(ground.worktree, file).split(sep).join('/');
    const scope = { task_id, worktree: ground.worktree, paths: [path], ttl_seconds: CLAIM_TTL_S };
    const taken = await hub.call(WITNESS, 'claims.take', { ...scope, note: 'synod doctor' });
    if (isRefused(taken))
      return fail('guard', `no claim was to be had: ${taken.message}`, 'synod claims');
    const held = await attempt(canary, file, folder, 1);
    if (held.trouble !== null) return fail('guard', held.trouble, `synod install ${vendor}`);
    if (!held.reason?.includes(WITNESS)) {
      return fail(
        'guard',
        held.reason === null
          ? 'an edit of a file that another agent holds was let through'
          : `an edit was refused, but not for the claim: ${held.reason}`,
        'see logs/decisions.jsonl in the data directory for what the guard saw',
      );
    }
    await hub.call(WITNESS, 'claims.release', { task_id });
    const free = await attempt(canary, file, folder, 2);
    if (free.reason !== null) {
      return fail(
        'guard',
        `an edit was refused after the claim was given back: ${free.reason}`,
        'synod claims',
      );
    }
    return ok(
      'guard',
      `refused an edit of what another holds in ${inMs(held.ms)}, and let it go after`,
      held.ms,
    );
  } finally {
    await hub.call(WITNESS, 'claims.release', { task_id });
    await releaseTouched(canary, folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** A guard that claims on first touch has claimed our file. */
async function releaseTouched({ vendor, hub }: HookCanary, folder: string): Promise<void> {
  const owner = canaryName(vendor);
  const listed = await hub.call(owner, 'claims.list', { owner, worktree: folder });
  const claims = isRefused(listed) ? [] : listed.answer.claims;
  for (const { task_id } of claims) await hub.call(owner, 'claims.release', { task_id });
}

async function attempt(
  { vendor, hooks }: HookCanary,
  file: string,
  cwd: string,
  number: number,
): Promise<{
  readonly reason: string | null;
  readonly ms: number;
  readonly trouble: string | null;
}> {
  const { before, edit, refused } = MOMENTS[vendor];
  const event = { ...edit(file), tool_use_id: `doctor-edit-${number}` };
  const { answer, ms, trouble } = await hooks.fire(before, event, { cwd });
  return { reason: refused(answer), ms, trouble };
}
