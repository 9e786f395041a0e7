/**
 * The questions every act on a claim begins with: is the input sane, is the caller the holder,
 * is its epoch the current one? Each no says who holds the claim, until when, and what to do.
 */
import { type Refusal, refuse } from '../../law/decider.ts';
import { isName, NAME_ALPHABET } from '../../law/text.ts';
import type { ClaimAsked } from './claim-events.ts';
import {
  CLAIM_ID_CHARS_MAX,
  CLAIM_TEXT_CHARS_MAX,
  OVERLAPS_SHOWN_MAX,
  TTL_MS_DEFAULT,
  TTL_MS_MAX,
  TTL_MS_MIN,
} from './claim-limits.ts';
import type { BookView, Claim, Wait } from './claim-state.ts';
import type { Scope } from './scope.ts';
import type { Found } from './scope-index.ts';

/** One step of a circle of waiting. */
export interface Link {
  readonly agent: string;
  readonly waits_for: string;
  readonly held_by: string;
}

export function checkActor(command: ClaimAsked): Refusal | null {
  if (command.by.kind !== 'observer') return null;
  return refuse('access.denied', 'an observer holds no claims and waits for none');
}

/** A claim that is there keeps its id, whatever a new one may be called. */
export function checkId(book: BookView, id: string): Refusal | null {
  if (book.claims.get(id) !== undefined || isName(id, CLAIM_ID_CHARS_MAX)) return null;
  return refuse(
    'claim.id-invalid',
    `a claim's id has 1 to ${CLAIM_ID_CHARS_MAX} characters, ${NAME_ALPHABET}; say the rest in its note`,
    { field: 'id' },
  );
}

/** NaN, the infinities and whatever is not above zero are refused by name [CM3]. */
export function parseTtl(
  ttlMs: number | null,
  otherwise: number = TTL_MS_DEFAULT,
): number | Refusal {
  if (ttlMs === null) return otherwise;
  if (!Number.isFinite(ttlMs) || ttlMs <= 0) {
    return refuse(
      'ttl.invalid',
      `a time to live of ${ttlMs / 1000} s is none; give ${TTL_MS_MIN / 1000} to ${TTL_MS_MAX / 1000} s, or nothing for ${TTL_MS_DEFAULT / 1000} s`,
      { ttl_s: String(ttlMs / 1000), min_s: TTL_MS_MIN / 1000, max_s: TTL_MS_MAX / 1000 },
    );
  }
  if (ttlMs > TTL_MS_MAX) {
    return refuse(
      'ttl.too-long',
      `a claim lives at most ${TTL_MS_MAX / 1000} s; take it for that long and renew it`,
      { ttl_s: String(ttlMs / 1000), max_s: TTL_MS_MAX / 1000 },
    );
  }
  return Math.max(TTL_MS_MIN, Math.ceil(ttlMs));
}

export function checkText(
  field: string,
  text: string | null,
  max: number = CLAIM_TEXT_CHARS_MAX,
): Refusal | null {
  if (text === null || text.length <= max) return null;
  return refuse(
    'claim.text-too-long',
    `${field} has ${text.length} characters, at most ${max} are kept; store it elsewhere and refer to it`,
    { field, max },
  );
}

/** The caller's own claim, or why it cannot act on it. A stale epoch is told before anything else [CM4]. */
export function holdingOf(
  book: BookView,
  command: ClaimAsked & { readonly id: string; readonly epoch: number | null },
): Claim | Refusal {
  const { by, id, epoch } = command;
  const claim = book.claims.get(id);
  if (claim === undefined) {
    return refuse(
      'claim.not-found',
      `nobody holds ${id}: it was released or has lapsed; take it again before you go on`,
      { id },
    );
  }
  const fenced = checkEpoch(claim, epoch);
  if (fenced !== null) return fenced;
  if (claim.owner === by.id) return claim;
  return refuse(
    'claim.not-holder',
    `${id} is held by ${claim.owner} ${left(claim.dueAt, command.at)}; only its holder does this. Wait for it, or have it handed over`,
    describe(claim),
  );
}

export function checkEpoch(claim: Claim, epoch: number | null): Refusal | null {
  if (epoch === null || epoch === claim.epoch) return null;
  return refuse(
    'claim.fenced',
    `${claim.id} is at epoch ${claim.epoch} and held by ${claim.owner}; epoch ${epoch} is over. Stop this work, or take the claim again`,
    { ...describe(claim), given_epoch: epoch },
  );
}

export function checkVersion(claim: Claim, expected: number | null): Refusal | null {
  if (expected === null || expected === claim.version) return null;
  return refuse(
    'claim.version',
    `${claim.id} is at version ${claim.version}, not ${expected}; read it again and decide anew`,
    { ...describe(claim), expected_version: expected },
  );
}

export function refuseHeld(claim: Claim, at: number): Refusal {
  return refuse(
    'claim.held',
    `${claim.id} is held by ${claim.owner} ${left(claim.dueAt, at)}; wait for it with claims.wait {"task_id": ${JSON.stringify(claim.id)}}, or take it with wait_ms`,
    { ...describe(claim), wait: { task_id: claim.id } },
    claim.dueAt,
  );
}

export function refuseOverlap(
  id: string,
  scope: Scope,
  found: readonly Found<Claim>[],
  at: number,
): Refusal {
  const [first] = found as readonly [Found<Claim>];
  // Of what both cover only the caller's own words are repeated; the holder's stand in the detail.
  const { holder, mine } = first;
  const retryAt = Math.max(...found.map((one) => one.holder.dueAt));
  return refuse(
    'claim.overlap',
    `${id} is not free: ${mine} is held, in whole or in part, by ${holder.owner} as ${holder.id} ${left(holder.dueAt, at)}; narrow the scope, or wait for it with claims.wait, or take it with wait_ms`,
    {
      ...describe(holder),
      overlaps: found.slice(0, OVERLAPS_SHOWN_MAX).map((one) => ({
        mine: one.mine,
        theirs: one.theirs,
        witness: one.witness,
        id: one.holder.id,
        holder: one.holder.owner,
        lapses_at: one.holder.dueAt / 1000,
      })),
      wait: { worktree: scope.worktree, paths: scope.paths },
    },
    retryAt,
  );
}

export function refuseReserved(id: string, wait: Wait, at: number): Refusal {
  return refuse(
    'claim.reserved',
    `${id} is not free yet: ${wait.agent} waited for ${wait.id ?? 'some of the same files'} and may take it first ${left(wait.dueAt, at)}; wait with claims.wait`,
    {
      holder: wait.agent,
      reserved: { id: wait.id, paths: wait.scope?.paths.slice(0, OVERLAPS_SHOWN_MAX) ?? null },
      until: wait.dueAt / 1000,
    },
    wait.dueAt,
  );
}

export function refuseCycle(links: readonly Link[]): Refusal {
  const told = links.map(
    ({ agent, waits_for, held_by }) => `${agent} waits for ${waits_for}, held by ${held_by}`,
  );
  return refuse(
    'claim.cycle',
    `this would be a circle in which nobody moves: ${told.join('; ')}. Release something first, or ask one of them to hand off`,
    {
      holder: links[0]?.held_by,
      cycle: [...links.map(({ agent }) => agent), links[0]?.agent],
      links,
    },
  );
}

function describe(claim: Claim): Record<string, unknown> {
  const { id, owner, epoch, version, status, dueAt } = claim;
  return { id, holder: owner, epoch, version, status, lapses_at: dueAt / 1000 };
}

function left(until: number, at: number): string {
  return `for ${Math.max(0, Math.ceil((until - at) / 1000))} s more`;
}
