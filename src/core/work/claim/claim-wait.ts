/**
 * Waiting for a claim or a scope, in a queue. When something frees, waiters are looked at in the order
 * in which they came, and the first whose wish is free gets a reservation [WT1]: it is told by an event
 * and has RESERVATION_MS to take what it waited for, during which nobody else may [WT2]; if it does not,
 * the turn passes on [WT3]. A wait that would close a circle is refused, and the circle named [WT4].
 */

import { type Decision, refuse } from '../../law/decider.ts';
import { checkShare } from '../../law/shares.ts';
import { checkActor, checkId, type Link, parseTtl, refuseCycle } from './claim-check.ts';
import type {
  StopWaiting,
  WaitEnded,
  WaitEvent,
  WaitForClaim,
  WaitReserved,
  WaitStarted,
} from './claim-events.ts';
import { RESERVATION_MS } from './claim-limits.ts';
import type { BookView, Claim, Wait } from './claim-state.ts';
import { parseScope, patternsOf, type Scope } from './scope.ts';
import { findAcross } from './scope-across.ts';
import { type Found, ScopeIndex } from './scope-index.ts';

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

/** What an agent wants or has: an id, a scope, or both. */
export interface Wish {
  readonly id: string | null;
  readonly scope: Scope | null;
}

export interface Holding extends Wish {
  readonly owner: string;
}

/** What a decision is about to do to the book: everything here is asked of the book together with it. */
export interface Change {
  readonly gone?: ReadonlySet<Claim>;
  readonly come?: readonly Holding[];
  readonly ended?: ReadonlySet<Wait>;
  /** A wait about to begin. */
  readonly begun?: { readonly agent: string } & Wish;
}

export function decideWait(book: BookView, command: WaitForClaim): Decision<WaitEvent, WaitAnswer> {
  const { by, at, id } = command;
  const bad = checkActor(command) ?? (id === null ? null : checkId(book, id));
  if (bad !== null) return bad;
  if (id === null && command.scope === null) {
    return refuse('scope.invalid', 'say what to wait for: the id of a claim, a scope, or both');
  }
  const ttlMs = parseTtl(command.ttlMs);
  if (typeof ttlMs !== 'number') return ttlMs;
  const held = id === null ? undefined : book.claims.get(id);
  if (held?.owner === by.id) {
    return refuse('claim.held', `${by.id} holds ${held.id} already; there is nothing to wait for`, {
      id: held.id,
      holder: by.id,
      lapses_at: held.dueAt / 1000,
    });
  }
  // To wait for a claim is to wait for what it covers, or being next would be worth nothing.
  const scope = command.scope === null ? (held?.scope ?? null) : parseScope(command.scope);
  if (scope !== null && 'refused' in scope) return scope;
  const wish: Wish = { id, scope };
  const same = sameWait(book, by.id, wish);
  if (same === null) {
    const mine = book.waitsByAgent.get(by.id)?.size ?? 0;
    const full = checkShare('WAITS_MAX', by, book.waits.size, mine);
    if (full !== null) return full;
    const cycle = findCycle(book, by.id, { begun: { agent: by.id, ...wish } });
    if (cycle !== null) return refuseCycle(cycle);
  }
  const number = same?.number ?? book.counter + 1;
  const ahead = findWaits(book, wish).filter(
    (wait) => wait.number < number && wait.agent !== by.id,
  ).length;
  // Asking again never shortens it: a call that waits a moment may find a place that was to last.
  const until = Math.max(at + ttlMs, same === null || same.isReserved ? 0 : same.dueAt);
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
): Decision<WaitEvent, { readonly ended: readonly number[] }> {
  const { by, at, wait: number } = command;
  const mine = [...(book.waitsByAgent.get(by.id) ?? [])];
  const left = number === null ? mine : mine.filter((wait) => wait.number === number);
  if (number !== null && left.length === 0) {
    return refuse(
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

/** Live claims of others that meet the scope, oldest epoch first. */
export function findHeld(
  book: BookView,
  agent: string,
  scope: Scope,
  search: { readonly gone?: ReadonlySet<Claim>; readonly limit?: number } = {},
): Found<Claim>[] {
  const found = findAcross<Claim>(book.held, scope, {
    skip: (claim) => claim.owner === agent || search.gone?.has(claim) === true,
    ...(search.limit !== undefined && { limit: search.limit }),
  });
  return found.sort((a, b) => a.holder.epoch - b.holder.epoch || (a.theirs < b.theirs ? -1 : 1));
}

/** The reservation of somebody else that stands in the way, if there is one. */
export function findReserved(
  book: BookView,
  agent: string,
  wish: Wish,
  ended?: ReadonlySet<Wait>,
): Wait | null {
  const counts = (wait: Wait) => wait.isReserved && wait.agent !== agent && !ended?.has(wait);
  for (const wait of (wish.id !== null && book.waitsById.get(wish.id)) || []) {
    if (counts(wait)) return wait;
  }
  if (wish.scope === null) return null;
  const skip = (wait: Wait): boolean => !counts(wait);
  const [found] = findAcross<Wait>(book.wanted, wish.scope, { skip, limit: 1 });
  return found?.holder ?? null;
}

/** Waits that want the id or meet the scope, in the order in which they came. */
export function findWaits(book: BookView, wish: Wish): Wait[] {
  const waits = new Set((wish.id !== null && book.waitsById.get(wish.id)) || []);
  if (wish.scope !== null) {
    for (const { holder } of findAcross<Wait>(book.wanted, wish.scope)) waits.add(holder);
  }
  return [...waits].sort((a, b) => a.number - b.number);
}

/** Reservations for those whose turn it is once `change` has freed these wishes. */
export function passOn(
  book: BookView,
  change: Change,
  freed: readonly Wish[],
  at: number,
): WaitReserved[] {
  const waiting = new Set<Wait>();
  for (const wish of freed) {
    for (const wait of findWaits(book, wish)) {
      if (!wait.isReserved && !change.ended?.has(wait)) waiting.add(wait);
    }
  }
  const reserved: WaitReserved[] = [];
  const come = [...(change.come ?? [])];
  for (const wait of [...waiting].sort((a, b) => a.number - b.number)) {
    if (!isFree(book, wait.agent, wait, { ...change, come })) continue;
    const { number, agent, id, scope } = wait;
    reserved.push({ type: 'wait.reserved', at, agent, number, id, until: at + RESERVATION_MS });
    come.push({ owner: agent, id, scope });
  }
  return reserved;
}

export function isFree(book: BookView, agent: string, wish: Wish, change: Change): boolean {
  if (ownersInTheWay(book, agent, wish, change, 1).size > 0) return false;
  return findReserved(book, agent, wish, change.ended) === null;
}

/** Others who hold the id or meet the scope, each with what of theirs is in the way. */
function ownersInTheWay(
  book: BookView,
  agent: string,
  wish: Wish,
  change: Change,
  limit?: number,
): Map<string, string> {
  const owners = new Map<string, string>();
  const holder = wish.id === null ? undefined : book.claims.get(wish.id);
  if (holder !== undefined && holder.owner !== agent && !change.gone?.has(holder)) {
    owners.set(holder.owner, holder.id);
  }
  for (const one of change.come ?? []) {
    if (one.owner === agent) continue;
    if ((wish.id !== null && one.id === wish.id) || doMeet(wish.scope, one.scope)) {
      if (!owners.has(one.owner)) owners.set(one.owner, one.id ?? 'some of the same files');
    }
  }
  if (wish.scope !== null) {
    findAcross<Claim>(book.held, wish.scope, {
      // One claim of each owner is enough.
      skip: (claim) =>
        claim.owner === agent || owners.has(claim.owner) || change.gone?.has(claim) === true,
      onFound: ({ owner, id }) => owners.set(owner, id),
      ...(limit !== undefined && { limit }),
    });
  }
  return owners;
}

export function doMeet(a: Scope | null, b: Scope | null): boolean {
  if (a === null || b === null) return false;
  const index = new ScopeIndex<Scope>();
  index.add(b, patternsOf(b.paths, b.isExact));
  return findAcross<Scope>(new Map([[b.worktree, index]]), a, { limit: 1 }).length > 0;
}

/**
 * A circle of waiting through `start`, once `change` is made. Who is in the way is asked of the
 * book now, so an edge never outlives the claim it stood for [WT4].
 */
export function findCycle(book: BookView, start: string, change: Change): Link[] | null {
  if (!mayCircle(book, start, change)) return null;
  const ways = new Map<string, readonly Link[]>([[start, []]]);
  const open = [start];
  for (let agent = open.shift(); agent !== undefined; agent = open.shift()) {
    const way = ways.get(agent) as readonly Link[];
    for (const wish of wishesOf(book, agent, change)) {
      for (const [owner, held] of ownersInTheWay(book, agent, wish, change)) {
        const links = [...way, { agent, waits_for: held, held_by: owner }];
        if (owner === start) return links;
        if (ways.has(owner)) continue;
        ways.set(owner, links);
        open.push(owner);
      }
    }
  }
  return null;
}

/** There was no circle before: a new one needs somebody who waits for what `start` has or gets. */
function mayCircle(book: BookView, start: string, change: Change): boolean {
  if (change.begun !== undefined) return (book.counts.get(start) ?? 0) > 0;
  const isWaitedFor = (wait: Wait) => wait.agent !== start && !change.ended?.has(wait);
  return (change.come ?? []).some((one) => findWaits(book, one).some(isWaitedFor));
}

function wishesOf(book: BookView, agent: string, change: Change): Wish[] {
  const wishes: Wish[] = [];
  for (const wait of book.waitsByAgent.get(agent) ?? []) {
    if (!wait.isReserved && !change.ended?.has(wait)) wishes.push(wait);
  }
  if (change.begun?.agent === agent) wishes.push(change.begun);
  return wishes;
}
