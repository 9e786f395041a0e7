/** Claims. Worktrees and paths are brought to their real form first; the law decides the rest. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { readJson } from '../../../core/law/json.ts';
import { takePage } from '../../../core/law/page.ts';
import { goneSince } from '../../../core/talk/presence.ts';
import {
  type BookView,
  type Claim,
  type ClaimView,
  viewClaim,
  type Wait,
} from '../../../core/work/claim/claim-state.ts';
import { findHeld } from '../../../core/work/claim/claim-wait.ts';
import { parsePaths, type Scope } from '../../../core/work/claim/scope.ts';
import type { Found } from '../../../core/work/claim/scope-index.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import {
  type claimCheck,
  type claimList,
  type claimUpdate,
  WAITS_SHOWN_MAX,
} from '../../../wire/operations/claims.ts';
import { giveUp, type QueuePlace, waitInLine } from '../claim-queue.ts';
import { idempotencyOf } from '../idempotency.ts';
import { checkStanding } from '../identity.ts';
import type { Handlers, Room } from '../room.ts';
import { isThere } from './presence.ts';

type View = OutputOf<typeof claimUpdate>['claim'];

interface GitFacts {
  readonly repository: string | null;
  readonly base: string;
  readonly auto_release_on: 'manual' | 'commit' | 'merge';
}

export const claimHandlers: Handlers<
  | 'claims.take'
  | 'claims.release'
  | 'claims.update'
  | 'claims.checkpoint'
  | 'claims.handoff'
  | 'claims.check'
  | 'claims.list'
  | 'claims.wait'
  | 'claims.unwait'
  | 'claims.forget'
> = {
  async 'claims.take'(room, input) {
    const { hub, by, platform } = room;
    const scope = await scopeOf(room, input);
    if (isRefusal(scope)) return scope;
    // How long one waits is no part of what is asked for.
    const { wait_ms: waitMs = 0, ...wish } = input;
    const take = () =>
      hub.submit({
        type: 'claim.take',
        by,
        at: hub.stamp(),
        id: input.task_id,
        epoch: input.epoch ?? null,
        scope,
        ttlMs: toMs(input.ttl_seconds),
        note: input.note ?? null,
        git: input.git == null ? null : JSON.stringify({ repository: null, ...input.git }),
        idempotency: idempotencyOf(platform, wish),
      });
    const until = platform.elapsedMs() + (waitMs ?? 0);
    let place: QueuePlace | null = null;
    for (;;) {
      const answer = await take();
      if (!isRefusal(answer))
        return { claim: claimOutput(answer.claim), renewed: answer.isRenewal };
      const leftMs = Math.ceil(until - platform.elapsedMs());
      if (leftMs <= 0 || !WAITABLE.has(answer.refused)) return giveUp(room, place, answer);
      const next: QueuePlace | Refusal = await waitInLine(
        room,
        input.task_id,
        scope,
        leftMs,
        place,
      );
      if (isRefusal(next)) return giveUp(room, place, next);
      place = next;
      // Nothing is taken for a caller that has gone, or may no longer act.
      if (room.signal?.aborted) return giveUp(room, place, answer);
      if (hub.watch.isEnding) return giveUp(room, place, STOPPING);
      const fallen = await hub.ask((world) => checkStanding(world, room.caller, hub.stamp()));
      if (fallen !== null) return giveUp(room, place, fallen);
    }
  },

  async 'claims.release'(room, input) {
    const answer = await room.hub.submit({
      type: 'claim.release',
      ...tenureOf(room, input),
      evidence: input.evidence ?? null,
      isForced: input.force,
    });
    if (isRefusal(answer)) return answer;
    return { task_id: input.task_id, released: true, was_owner: answer.owner };
  },

  async 'claims.update'(room, input) {
    const answer = await room.hub.submit({
      type: 'claim.update',
      ...tenureOf(room, input),
      status: input.status ?? null,
      note: input.note ?? null,
      dataRef: input.data_ref ?? null,
      expectedVersion: input.expected_version ?? null,
    });
    return isRefusal(answer) ? answer : { claim: claimOutput(answer) };
  },

  async 'claims.checkpoint'(room, input) {
    const answer = await room.hub.submit({
      type: 'claim.checkpoint',
      ...tenureOf(room, input),
      checkpoint: input.checkpoint,
      expectedVersion: null,
    });
    return isRefusal(answer) ? answer : { claim: claimOutput(answer) };
  },

  async 'claims.handoff'(room, input) {
    const { hub, caller, activities } = room;
    const look = () =>
      hub.ask((world) => ({
        isThere: isThere(world, input.to, activities.find(caller.space, input.to), hub.stamp()),
      }));
    let there = await look();
    if (isRefusal(there)) return there;
    // It may have come to another server this moment.
    if (!there.isThere && (await activities.news(caller.space, input.to))) there = await look();
    if (isRefusal(there)) return there;
    const answer = await hub.submit({
      type: 'claim.hand-off',
      ...tenureOf(room, input),
      to: input.to,
      isRecipientThere: there.isThere,
      ttlMs: null,
      note: input.note ?? null,
    });
    return isRefusal(answer) ? answer : { claim: claimOutput(answer) };
  },

  async 'claims.check'({ hub, by, platform, caller }, input) {
    const placed = await platform.placeScope(input.worktree ?? '', input.paths, caller.isOwner);
    if (isRefusal(placed)) return placed;
    const { worktree, paths } = placed;
    // The whole worktree is asked about like any other pattern.
    const parsed = parsePaths(paths.length === 0 ? ['**'] : paths);
    if ('refused' in parsed) return parsed;
    const scope: Scope = { ...placed, worktree, branch: null, paths: parsed.paths };
    const found = await hub.ask((world) => ({
      conflicts: groupByHolder(findHeld(world.claims, by.id, scope)),
      mine: parsed.paths.every((path) =>
        // Nobody is called that, so nobody is left out.
        findHeld(world.claims, '', { ...scope, paths: [path] }).some(
          ({ holder }) => holder.owner === by.id,
        ),
      ),
    }));
    if (isRefusal(found)) return found;
    return { free: found.conflicts.length === 0, ...found };
  },

  async 'claims.list'({ hub, platform, caller }, input) {
    const { owner, offered_to: offeredTo, worktree, after, limit } = input;
    const placed =
      worktree === undefined ? null : await platform.placeScope(worktree, [], caller.isOwner);
    if (isRefusal(placed)) return placed;
    return hub.ask((world) => {
      const rows = [...claimsAt(world.claims, placed)]
        .filter((claim) => owner === undefined || claim.owner === owner)
        .filter((claim) => offeredTo === undefined || claim.offer?.to === offeredTo)
        .filter((claim) => after === undefined || claim.id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((claim) => {
          const since = goneSince(world, claim.owner, hub.stamp());
          const view = claimOutput(viewClaim(claim));
          return since === null ? view : { ...view, gone_since: since / 1000 };
        });
      const page = takePage(rows, (row) => row.task_id, { limit });
      const waits = after === undefined ? queueOutput(world.claims, owner) : [];
      return { claims: [...page.rows], next: page.next, waits };
    });
  },

  async 'claims.wait'(room, input) {
    const { hub, by } = room;
    const wantsScope = input.paths != null || input.worktree != null;
    const scope = wantsScope ? await scopeOf(room, input) : null;
    if (isRefusal(scope)) return scope;
    const answer = await hub.submit({
      type: 'claim.wait',
      by,
      at: hub.stamp(),
      id: input.task_id ?? null,
      scope,
      ttlMs: toMs(input.ttl_seconds),
      idempotency: null,
    });
    if (isRefusal(answer)) return answer;
    const { wait, until, ahead, isReserved } = answer;
    return { wait, until: until / 1000, ahead, reserved: isReserved };
  },

  async 'claims.unwait'({ hub, by }, { wait }) {
    const answer = await hub.submit({
      type: 'claim.unwait',
      by,
      at: hub.stamp(),
      wait,
      idempotency: null,
    });
    return isRefusal(answer) ? answer : { ended: answer.ended.length > 0 };
  },

  async 'claims.forget'({ hub, by }, { task_id: id = null, agent_id: from = null }) {
    const asked = { type: 'claim.forget', by, at: hub.stamp(), id, from } as const;
    return hub.submit({ ...asked, idempotency: null });
  },
};

/** All of them, those of a worktree, or those that cover something in a folder of one. */
function claimsAt(
  book: BookView,
  placed: Pick<Scope, 'worktree' | 'paths'> | null,
): Iterable<Claim> {
  if (placed === null) return book.claims.values();
  const { worktree, paths } = placed;
  if (paths.length > 0) {
    const found = findHeld(book, '', { worktree, branch: null, paths });
    return new Set(found.map(({ holder }) => holder));
  }
  return [...book.claims.values()].filter(({ scope }) => scope?.worktree === worktree);
}

type Conflict = OutputOf<typeof claimCheck>['conflicts'][number];

function groupByHolder(found: readonly Found<Claim>[]): Conflict[] {
  const conflicts = new Map<Claim, Conflict>();
  for (const { holder, mine, theirs, witness } of found) {
    const known = conflicts.get(holder) ?? { claim: claimOutput(viewClaim(holder)), overlaps: [] };
    known.overlaps.push({ mine, theirs, witness });
    conflicts.set(holder, known);
  }
  return [...conflicts.values()];
}

/** Refusals that time may cure. */
/** The first of the queue: a map keeps the order of their numbers. */
function queueOutput(
  book: BookView,
  owner: string | undefined,
): OutputOf<typeof claimList>['waits'] {
  const shown: OutputOf<typeof claimList>['waits'] = [];
  for (const wait of book.waits.values()) {
    const { agent, id, since, isReserved: reserved } = wait;
    if (owner !== undefined && agent !== owner) continue;
    if (shown.length === WAITS_SHOWN_MAX) break;
    const waits_for = holdersFor(book, wait);
    shown.push({ agent_id: agent, task_id: id, since: since / 1000, reserved, waits_for });
  }
  return shown;
}

/** Who stands in the way of a wish, each once. */
function holdersFor(book: BookView, { agent, id, scope }: Wait): string[] {
  const named = id === null ? undefined : book.claims.get(id)?.owner;
  const met = scope === null ? [] : findHeld(book, agent, scope, { limit: HOLDERS_SHOWN_MAX });
  const all = [...(named === undefined ? [] : [named]), ...met.map(({ holder }) => holder.owner)];
  return [...new Set(all)].filter((name) => name !== agent);
}

const HOLDERS_SHOWN_MAX = 8;
const WAITABLE: ReadonlySet<string> = new Set(['claim.held', 'claim.overlap', 'claim.reserved']);

const STOPPING = refuse('store.unavailable', 'the hub is stopping; ask again when it is back');

export function claimOutput(claim: ClaimView): View {
  return {
    task_id: claim.id,
    owner: claim.owner,
    note: claim.note ?? '',
    status: claim.status,
    data_ref: claim.dataRef ?? '',
    worktree: claim.scope?.worktree ?? '',
    branch: claim.scope?.branch ?? null,
    paths: [...(claim.scope?.paths ?? [])],
    ...(claim.scope?.isExact && { case_sensitive: true as const }),
    epoch: claim.epoch,
    version: claim.version,
    checkpoint: claim.checkpoint,
    git: claim.git === null ? null : (readJson(claim.git) as GitFacts),
    offered_to: claim.offer?.to ?? null,
    claimed_at: claim.claimedAt / 1000,
    lease_expires_at: claim.lapsesAt / 1000,
  };
}

/** Null keeps what a renewed claim covers; a new one without paths covers the whole worktree it names. */
async function scopeOf(
  { platform, caller }: Room,
  input: {
    readonly paths?: readonly string[] | null | undefined;
    readonly worktree?: string | null | undefined;
    readonly branch?: string | null | undefined;
  },
): Promise<Scope | Refusal | null> {
  if (input.paths == null && input.worktree == null && input.branch == null) return null;
  const placed = await platform.placeScope(input.worktree ?? '', input.paths ?? [], caller.isOwner);
  return isRefusal(placed) ? placed : { ...placed, branch: input.branch ?? null };
}

export function toMs(seconds: number | null | undefined): number | null {
  return seconds == null ? null : seconds * 1000;
}

/** What every command about a claim that is held says: who, when, which tenure, and its key. */
function tenureOf(
  { hub, by, platform }: Room,
  input: {
    readonly task_id: string;
    readonly epoch?: number | null | undefined;
    readonly idempotency_key?: string | null | undefined;
  },
) {
  const { task_id: id, epoch = null } = input;
  return { by, at: hub.stamp(), id, epoch, idempotency: idempotencyOf(platform, input) };
}
