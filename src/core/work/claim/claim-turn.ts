/**
 * Whose turn it is. When something frees, waiters are looked at in the order in which they came,
 * and the first whose wish is free gets a reservation [WT1]; those behind it may get one too, if
 * they want something else. A decision has not happened yet, so everything here is asked of
 * the book together with the change about to be made to it.
 */
import type { WaitReserved } from './claim-events.ts';
import { RESERVATION_MS } from './claim-limits.ts';
import { type BookView, type Claim, type Wait, wantedName } from './claim-state.ts';
import { patternsOf, type Scope } from './scope.ts';
import { type Found, ScopeIndex } from './scope-index.ts';

/** What an agent wants or has: an id, a scope, or both. */
export interface Wish {
  readonly id: string | null;
  readonly scope: Scope | null;
}

export interface Holding extends Wish {
  readonly owner: string;
}

export interface Change {
  readonly gone?: ReadonlySet<Claim>;
  readonly come?: readonly Holding[];
  readonly ended?: ReadonlySet<Wait>;
  /** A wait about to begin. */
  readonly begun?: { readonly agent: string } & Wish;
}

/** Live claims of others that meet the scope, oldest epoch first. */
export function findHeld(
  book: BookView,
  agent: string,
  scope: Scope,
  search: { readonly gone?: ReadonlySet<Claim>; readonly limit?: number } = {},
): Found<Claim>[] {
  const found = book.held.get(scope.worktree)?.find(patternsOf(scope.paths), {
    skip: (claim) => claim.owner === agent || search.gone?.has(claim) === true,
    ...(search.limit !== undefined && { limit: search.limit }),
  });
  return (found ?? []).sort(
    (a, b) => a.holder.epoch - b.holder.epoch || (a.theirs < b.theirs ? -1 : 1),
  );
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
  const index = book.wanted.get(wish.scope.worktree);
  const [found] =
    index?.find(patternsOf(wish.scope.paths), { skip: (wait) => !counts(wait), limit: 1 }) ?? [];
  return found?.holder ?? null;
}

/** Waits that want the id or meet the scope, in the order in which they came. */
export function findWaits(book: BookView, wish: Wish): Wait[] {
  const waits = new Set((wish.id !== null && book.waitsById.get(wish.id)) || []);
  if (wish.scope !== null) {
    const index = book.wanted.get(wish.scope.worktree);
    for (const { holder } of index?.find(patternsOf(wish.scope.paths)) ?? []) waits.add(holder);
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
      if (!owners.has(one.owner)) owners.set(one.owner, wantedName(one));
    }
  }
  if (wish.scope !== null) {
    book.held.get(wish.scope.worktree)?.find(patternsOf(wish.scope.paths), {
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
  if (a === null || b === null || a.worktree !== b.worktree) return false;
  const index = new ScopeIndex<Scope>();
  index.add(b, patternsOf(b.paths));
  return index.find(patternsOf(a.paths), { limit: 1 }).length > 0;
}

export interface Link {
  readonly agent: string;
  readonly waits_for: string;
  readonly held_by: string;
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
