/**
 * What a recorded event does to the book of claims. It never refuses: what an event speaks of and
 * the book does not know is passed over. Every index is kept here and nowhere else.
 */
import { unreachable } from '../../law/assert.ts';
import { readJson } from '../../law/json.ts';
import type {
  ClaimChange,
  ClaimEvent,
  ClaimKeyed,
  ClaimTaken,
  WaitStarted,
} from './claim-events.ts';
import { CLAIM_KEYS_MAX, CLAIM_KEYS_PER_AGENT_MAX } from './claim-limits.ts';
import { type Claim, type ClaimBook, indexOf, type Wait } from './claim-state.ts';
import { disinherit, forgottenBy, inherit } from './inheritance.ts';
import { patternsOf } from './scope.ts';

export function evolveClaims(book: ClaimBook, event: ClaimEvent): void {
  switch (event.type) {
    case 'claim.taken':
      draw(book, event.epoch);
      addClaim(book, createClaim(event, book.inherited.get(event.id)?.checkpoint ?? null));
      disinherit(book, event.id);
      return;
    case 'claim.renewed':
    case 'claim.updated':
    case 'claim.checkpointed':
    case 'claim.offered':
    case 'claim.handed-off':
      return changed(book, event);
    case 'claim.released':
    case 'claim.expired': {
      const claim = book.claims.get(event.id);
      if (claim === undefined) return;
      removeClaim(book, claim);
      leave(book, claim, event.type === 'claim.released', event.at);
      return;
    }
    case 'claim.forgotten':
      for (const id of forgottenBy(book, event)) disinherit(book, id);
      return;
    case 'wait.started':
      return started(book, event);
    case 'wait.reserved': {
      const wait = book.waits.get(event.number);
      if (wait === undefined) return;
      wait.isReserved = true;
      postpone(book, wait, event.until);
      return;
    }
    case 'wait.ended': {
      const wait = book.waits.get(event.number);
      if (wait !== undefined) removeWait(book, wait);
      return;
    }
    case 'claim.keyed':
      return rememberAnswer(book, event);
    default:
      return unreachable(event);
  }
}

/** The claim a grant makes; `decide` uses it too, so that the answer is what is recorded. */
export function createClaim(event: ClaimTaken, checkpoint: string | null): Claim {
  const { id, by, scope, note, git, epoch, at, ttlMs } = event;
  return {
    kind: 'claim',
    id,
    owner: by,
    scope,
    status: 'claimed',
    note,
    dataRef: null,
    git,
    checkpoint,
    epoch,
    version: 0,
    claimedAt: at,
    ttlMs,
    offer: null,
    dueAt: at + ttlMs,
    heapIndex: -1,
  };
}

/** What an event changes of a claim; `decide` uses it too, as above. */
export function changesOf(claim: Claim, event: ClaimChange): Partial<Claim> {
  switch (event.type) {
    case 'claim.renewed': {
      const { at, epoch, ttlMs, scope, note, git } = event;
      return given({ epoch, ttlMs, dueAt: at + ttlMs, scope, note, git });
    }
    case 'claim.updated': {
      const { version, status, note, dataRef } = event;
      return given({ version, status, note, dataRef });
    }
    case 'claim.checkpointed':
      return { version: event.version, checkpoint: event.checkpoint };
    case 'claim.offered': {
      const { to, note = null, ttlMs = null } = event;
      return { offer: to === null ? null : { to, note, ttlMs } };
    }
    case 'claim.handed-off': {
      const { to: owner, epoch, ttlMs, lapsesAt: dueAt, note, scope, git } = event;
      const version = claim.version + 1;
      return given({ owner, epoch, version, ttlMs, dueAt, note, scope, git, offer: null });
    }
    default:
      return unreachable(event);
  }
}

/** What an event does not say stays as it was [CM2]. */
function given(changes: { [Field in keyof Claim]?: Claim[Field] | undefined }): Partial<Claim> {
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as Partial<Claim>;
}

/** For evolve and for thawing a snapshot. */
export function addClaim(book: ClaimBook, claim: Claim): void {
  book.claims.set(claim.id, claim);
  count(book, claim.owner, 1);
  book.due.put(claim);
  index(book, claim);
}

export function addWait(book: ClaimBook, wait: Wait): void {
  book.waits.set(wait.number, wait);
  join(book.waitsByAgent, wait.agent, wait);
  if (wait.id !== null) join(book.waitsById, wait.id, wait);
  if (wait.scope !== null) {
    const { worktree, paths, isExact } = wait.scope;
    indexOf(book.wanted, worktree).add(wait, patternsOf(paths, isExact));
  }
  book.due.put(wait);
}

export function keyName(sender: string, command: string, key: string): string {
  return JSON.stringify([sender, command, key]);
}

export function rememberAnswer(book: ClaimBook, event: Omit<ClaimKeyed, 'type' | 'at'>): void {
  const { by, command, key, digest, answer } = event;
  const name = keyName(by, command, key);
  forgetKey(book, by, name);
  book.keys.set(name, { digest, answer });
  join(book.keysBySender, by, name);
  const mine = book.keysBySender.get(by) ?? new Set();
  const [oldest] = mine;
  if (mine.size > CLAIM_KEYS_PER_AGENT_MAX && oldest !== undefined) forgetKey(book, by, oldest);
  if (book.keys.size <= CLAIM_KEYS_MAX) return;
  const [first] = book.keys.keys();
  if (first !== undefined) forgetKey(book, (readJson(first) as [string])[0], first);
}

function forgetKey(book: ClaimBook, sender: string, name: string): void {
  book.keys.delete(name);
  part(book.keysBySender, sender, name);
}

function changed(book: ClaimBook, event: ClaimChange): void {
  // Versions were drawn from the counter too, once: a log from then must not give a number twice.
  if (event.type !== 'claim.offered') draw(book, 'epoch' in event ? event.epoch : event.version);
  const claim = book.claims.get(event.id);
  if (claim === undefined) return;
  count(book, claim.owner, -1);
  const changes = changesOf(claim, event);
  if (changes.scope !== undefined) unindex(book, claim);
  Object.assign(claim, changes);
  count(book, claim.owner, 1);
  book.due.put(claim);
  if (changes.scope !== undefined) index(book, claim);
}

/** A checkpoint outlives its claim, unless the holder says the work is done and lets go [CM7]. */
function leave(book: ClaimBook, claim: Claim, isReleased: boolean, at: number): void {
  if (isReleased && claim.status === 'done') return;
  if (claim.checkpoint === null) return;
  inherit(book, claim.id, { checkpoint: claim.checkpoint, from: claim.owner, at });
}

function started(book: ClaimBook, event: WaitStarted): void {
  draw(book, event.number);
  const known = book.waits.get(event.number);
  if (known !== undefined) {
    known.until = event.until;
    if (!known.isReserved) postpone(book, known, event.until);
    return;
  }
  const { number, by, id, scope, at, until } = event;
  addWait(book, {
    kind: 'wait',
    number,
    agent: by,
    id,
    scope,
    since: at,
    until,
    isReserved: false,
    dueAt: until,
    heapIndex: -1,
  });
}

function removeClaim(book: ClaimBook, claim: Claim): void {
  book.claims.delete(claim.id);
  count(book, claim.owner, -1);
  book.due.delete(claim);
  unindex(book, claim);
}

function index(book: ClaimBook, claim: Claim): void {
  if (claim.scope === null) return;
  const { worktree, paths, isExact } = claim.scope;
  indexOf(book.held, worktree).add(claim, patternsOf(paths, isExact));
}

function unindex(book: ClaimBook, claim: Claim): void {
  if (claim.scope === null) return;
  const { worktree } = claim.scope;
  const index = book.held.get(worktree);
  index?.remove(claim);
  if (index?.size === 0) book.held.delete(worktree);
}

function removeWait(book: ClaimBook, wait: Wait): void {
  book.waits.delete(wait.number);
  part(book.waitsByAgent, wait.agent, wait);
  if (wait.id !== null) part(book.waitsById, wait.id, wait);
  book.due.delete(wait);
  if (wait.scope === null) return;
  const index = book.wanted.get(wait.scope.worktree);
  index?.remove(wait);
  if (index?.size === 0) book.wanted.delete(wait.scope.worktree);
}

function postpone(book: ClaimBook, item: Claim | Wait, dueAt: number): void {
  item.dueAt = dueAt;
  book.due.put(item);
}

function draw(book: ClaimBook, number: number): void {
  book.counter = Math.max(book.counter, number);
}

function count(book: ClaimBook, agent: string, by: 1 | -1): void {
  const now = (book.counts.get(agent) ?? 0) + by;
  if (now > 0) book.counts.set(agent, now);
  else book.counts.delete(agent);
}

function join<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function part<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set?.delete(value) && set.size === 0) sets.delete(key);
}
