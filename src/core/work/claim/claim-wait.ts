/**
 * Waiting for a claim or a scope, in a queue. A waiter is told by an event when its turn has come and
 * then has RESERVATION_MS to take what it waited for, during which nobody else may [WT2]; if it
 * does not, the turn passes on [WT3]. A wait that would close a circle is refused, and the
 * circle named [WT4].
 */

import type { ClaimDecision } from './claim.ts';
import { checkActor, checkId, parseTtl, refuseCycle } from './claim-check.ts';
import type {
  StopWaiting,
  WaitEnded,
  WaitEvent,
  WaitForClaim,
  WaitStarted,
} from './claim-events.ts';
import { RESERVATION_MS, WAITS_MAX, WAITS_PER_AGENT_MAX } from './claim-limits.ts';
import { refuseClaim, refuseFull } from './claim-refusal.ts';
import type { BookView, Wait } from './claim-state.ts';
import { findCycle, findWaits, isFree, passOn, type Wish } from './claim-turn.ts';
import { parseScope, type Scope } from './scope.ts';

export interface WaitAnswer {
  readonly wait: number;
  /** True when it is free now and kept for the caller until `reservedUntil`. */
  readonly isReserved: boolean;
  readonly reservedUntil: number | null;
  /** When the wait is given up, unless asked again. */
  readonly until: number;
  /** How many others came before and want some of the same. */
  readonly ahead: number;
}

export function decideWait(
  book: BookView,
  command: WaitForClaim,
): ClaimDecision<WaitEvent, WaitAnswer> {
  const { by, at, id } = command;
  const bad = checkActor(command) ?? (id === null ? null : checkId(id));
  if (bad !== null) return bad;
  if (id === null && command.scope === null) {
    return refuseClaim(
      'scope.invalid',
      'say what to wait for: the id of a claim, a scope, or both',
    );
  }
  const ttlMs = parseTtl(command.ttlMs);
  if (typeof ttlMs !== 'number') return ttlMs;
  const held = id === null ? undefined : book.claims.get(id);
  if (held?.owner === by.id) {
    return refuseClaim(
      'claim.held',
      `${by.id} holds ${held.id} already; there is nothing to wait for`,
      {
        id: held.id,
        holder: by.id,
        lapses_at: held.dueAt / 1000,
      },
    );
  }
  // To wait for a claim is to wait for what it covers, or being next would be worth nothing.
  const scope = command.scope === null ? (held?.scope ?? null) : parseScope(command.scope);
  if (scope !== null && 'refused' in scope) return scope;
  const wish: Wish = { id, scope };
  const same = sameWait(book, by.id, wish);
  if (same === null) {
    const mine = book.waitsByAgent.get(by.id)?.size ?? 0;
    if (mine >= WAITS_PER_AGENT_MAX) return refuseFull('WAITS_PER_AGENT_MAX', WAITS_PER_AGENT_MAX);
    if (book.waits.size >= WAITS_MAX) return refuseFull('WAITS_MAX', WAITS_MAX);
    const cycle = findCycle(book, by.id, { begun: { agent: by.id, ...wish } });
    if (cycle !== null) return refuseCycle(cycle);
  }
  const number = same?.number ?? book.counter + 1;
  const ahead = findWaits(book, wish).filter(
    (wait) => wait.number < number && wait.agent !== by.id,
  ).length;
  const until = at + ttlMs;
  const started: WaitStarted = { type: 'wait.started', at, by: by.id, number, id, scope, until };
  if (same?.isReserved) {
    const answer = { wait: number, isReserved: true, reservedUntil: same.dueAt, until, ahead };
    return { events: [started], answer };
  }
  const isReserved = isFree(book, by.id, wish, {});
  const reservedUntil = isReserved ? at + RESERVATION_MS : null;
  const events: WaitEvent[] = [started];
  if (reservedUntil !== null) {
    events.push({ type: 'wait.reserved', at, agent: by.id, number, id, until: reservedUntil });
  }
  return { events, answer: { wait: number, isReserved, reservedUntil, until, ahead } };
}

export function decideUnwait(
  book: BookView,
  command: StopWaiting,
): ClaimDecision<WaitEvent, { readonly ended: readonly number[] }> {
  const { by, at, wait: number } = command;
  const mine = [...(book.waitsByAgent.get(by.id) ?? [])];
  const left = number === null ? mine : mine.filter((wait) => wait.number === number);
  if (number !== null && left.length === 0) {
    return refuseClaim(
      'wait.not-found',
      `${by.id} has no wait ${number}: it was used, given up or has lapsed`,
      { wait: number, waits: mine.map((wait) => wait.number) },
    );
  }
  const ended = new Set(left);
  const events: WaitEnded[] = left.map((wait) => endOf(wait, at, 'left'));
  const freed = left.filter((wait) => wait.isReserved);
  return {
    events: [...events, ...passOn(book, { ended }, freed, at)],
    answer: { ended: left.map((wait) => wait.number) },
  };
}

export function endOf(wait: Wait, at: number, reason: WaitEnded['reason']): WaitEnded {
  return { type: 'wait.ended', at, agent: wait.agent, number: wait.number, reason };
}

/** Asking again keeps the place in the queue. */
function sameWait(book: BookView, agent: string, wish: Wish): Wait | null {
  for (const wait of book.waitsByAgent.get(agent) ?? []) {
    if (wait.id === wish.id && isSameScope(wait.scope, wish.scope)) return wait;
  }
  return null;
}

function isSameScope(a: Scope | null, b: Scope | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.worktree === b.worktree &&
    a.paths.length === b.paths.length &&
    a.paths.every((path, i) => path === b.paths[i])
  );
}
