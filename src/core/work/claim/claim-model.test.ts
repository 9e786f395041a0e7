/**
 * Goal: no history of takes, renewals, hand-offs, releases, waits and lapses by 64 agents ever
 * gives one path two holders, takes an epoch back, closes a circle of waiting or forgets a waiter.
 * Method: seeded random commands; after every event the book is held against an oracle that
 * tries every path of a small tree. Now and then a twin thawed from a snapshot takes over, and
 * must decide the same. A failure prints its seed and step.
 */
import { expect, test } from 'vitest';
import { type Chance, createChance } from '../../../testing/chance.ts';
import { createClaimStory, refusalOf, scopeOf } from '../../../testing/claim-story.ts';
import { coversByTrying, everyPath } from '../../../testing/scope-oracle.ts';
import { codeOf } from '../../../testing/story.ts';
import type { ClaimCommand } from './claim-events.ts';
import { evolveClaims } from './claim-evolve.ts';
import { freezeClaims, thawClaims } from './claim-snapshot.ts';
import { type Claim, type ClaimBook, viewClaim, type Wait } from './claim-state.ts';
import { decideClaim, expireClaims, nextExpiry } from './claims.ts';
import type { Scope } from './scope.ts';

const PATHS = [
  'a',
  'b',
  'A/b',
  'a/*',
  '*/b',
  '**/x.ts',
  'a/**/x.ts',
  '?/a',
  '[!a]/**',
  '{a/b,b/a}',
  'b/a/x.ts',
  'a/a/a',
];
const TREE = everyPath(['a', 'b', 'x.ts'], 4);
const COVERED = new Map(
  PATHS.map((path) => [path, TREE.filter((one) => coversByTrying(path, one))]),
);
const AGENTS = Array.from({ length: 64 }, (_, i) => `agent-${i}`);
const STATUSES = ['claimed', 'working', 'input_required', 'done', 'failed'];

const ANSWERS_WITH_CLAIM = new Set(
  ['take', 'renew', 'update', 'checkpoint', 'hand-off'].map((verb) => `claim.${verb}`),
);

/** Every path of the tree that the scope covers, with its worktree before it. */
function tried(scope: Scope | null): string[] {
  if (scope === null) return [];
  const paths =
    scope.paths.length === 0 ? TREE : scope.paths.flatMap((path) => COVERED.get(path) ?? []);
  return paths.map((path) => `${scope.worktree}:${path}`);
}

function ownersByPath(book: ClaimBook): Map<string, string> {
  const owners = new Map<string, string>();
  for (const claim of book.claims.values()) {
    for (const path of tried(claim.scope)) {
      const other = owners.get(path) ?? claim.owner;
      // Asked a million times, so the plain way is worth it.
      if (other !== claim.owner) expect.fail(`${path} is held by ${other} and ${claim.owner}`);
      owners.set(path, claim.owner);
    }
  }
  return owners;
}

function inTheWay(book: ClaimBook, owners: Map<string, string>, wait: Wait): Set<string> {
  const found = new Set(tried(wait.scope).map((path) => owners.get(path)));
  if (wait.id !== null) found.add(book.claims.get(wait.id)?.owner);
  found.delete(undefined);
  found.delete(wait.agent);
  return found as Set<string>;
}

function checkWaits(book: ClaimBook, owners: Map<string, string>): void {
  const edges = new Map<string, Set<string>>();
  const reserved = [...book.waits.values()].filter((wait) => wait.isReserved);
  for (const wait of book.waits.values()) {
    if (wait.isReserved) continue;
    const way = inTheWay(book, owners, wait);
    const wanted = new Set(tried(wait.scope));
    const isBehind = reserved.some(
      (one) =>
        one.agent !== wait.agent &&
        ((one.id !== null && one.id === wait.id) ||
          tried(one.scope).some((path) => wanted.has(path))),
    );
    expect([wait.number, way.size > 0 || isBehind]).toEqual([wait.number, true]);
    edges.set(wait.agent, new Set([...(edges.get(wait.agent) ?? []), ...way]));
  }
  for (const start of edges.keys()) {
    const reached = new Set<string>();
    const open = [...(edges.get(start) ?? [])];
    for (let agent = open.pop(); agent !== undefined; agent = open.pop()) {
      if (reached.has(agent)) continue;
      reached.add(agent);
      open.push(...(edges.get(agent) ?? []));
    }
    expect([start, reached.has(start)]).toEqual([start, false]);
  }
}

function drawScope(chance: Chance): Scope | null {
  if (chance.isLikely(0.1)) return null;
  const count = chance.isLikely(0.03) ? 0 : chance.int(1, 2);
  const paths = Array.from({ length: count }, () => chance.pick(PATHS));
  return { worktree: chance.pick(['w1', 'w2', 'w3', 'w4']), branch: null, paths };
}

function drawCommand(chance: Chance, book: ClaimBook, at: number): ClaimCommand {
  const claims = [...book.claims.values()];
  const some = claims.length > 0 && chance.isLikely(0.8) ? chance.pick(claims) : null;
  const waiters = [...book.waits.values()].filter((wait) => wait.isReserved);
  const isAdmin = chance.isLikely(0.03);
  const next = waiters.length > 0 && chance.isLikely(0.4) ? chance.pick(waiters) : null;
  const agent =
    next?.agent ?? (some !== null && chance.isLikely(0.7) ? some.owner : chance.pick(AGENTS));
  const by = { id: agent, kind: isAdmin ? 'admin' : 'agent', tier: 'standard' } as const;
  const idempotency = chance.isLikely(0.1) ? { key: `k${chance.int(0, 20)}`, digest: 'd' } : null;
  const ttlMs = chance.isLikely(0.5)
    ? null
    : chance.pick([30_000, 60_000, 500_000, -1, Number.NaN]);
  const id = next?.id ?? some?.id ?? `c${chance.int(0, 60)}`;
  const epoch = chance.isLikely(0.7)
    ? null
    : chance.isLikely(0.8)
      ? (some?.epoch ?? 1)
      : chance.int(0, book.counter);
  const expectedVersion = chance.isLikely(0.8) ? null : (some?.version ?? 0);
  const asked = { by, at, idempotency };
  const offered = claims.find((claim) => claim.offer !== null);
  if (next === null && offered?.offer != null && chance.isLikely(0.3)) {
    const taker = { ...by, id: offered.offer.to };
    const scope = chance.isLikely(0.5) ? null : drawScope(chance);
    const rest = { id: offered.id, epoch, scope, ttlMs, note: null, git: null };
    return { ...asked, by: taker, type: 'claim.take', ...rest };
  }
  switch (next !== null ? 0 : chance.int(0, 11)) {
    case 0:
    case 1:
    case 2: {
      const scope = next?.scope ?? drawScope(chance);
      const fresh = next === null && chance.isLikely(0.7) ? `c${chance.int(0, 60)}` : id;
      return {
        ...asked,
        type: 'claim.take',
        id: fresh,
        epoch,
        scope,
        ttlMs,
        note: null,
        git: null,
      };
    }
    case 3:
      return { ...asked, type: 'claim.renew', id, epoch, ttlMs };
    case 4:
      return {
        ...asked,
        type: 'claim.update',
        id,
        epoch,
        status: chance.pick(STATUSES),
        note: 'n',
        dataRef: null,
        expectedVersion,
      };
    case 5:
      return {
        ...asked,
        type: 'claim.checkpoint',
        id,
        epoch,
        checkpoint: `p${at}`,
        expectedVersion,
      };
    case 6:
      return {
        ...asked,
        type: 'claim.hand-off',
        id,
        epoch,
        to: chance.pick(AGENTS),
        ttlMs,
        note: null,
      };
    case 7:
      return { ...asked, type: 'claim.release', id, epoch, evidence: null, isForced: isAdmin };
    case 8:
      return { ...asked, type: 'claim.unwait', wait: null };
    default: {
      const isHolder = claims.length > 0 && chance.isLikely(0.7);
      const waiter = { ...by, id: isHolder ? chance.pick(claims).owner : chance.pick(AGENTS) };
      const isById = chance.isLikely(0.5);
      return {
        ...asked,
        by: waiter,
        type: 'claim.wait',
        id: isById ? id : null,
        scope: isById ? null : drawScope(chance),
        ttlMs,
      };
    }
  }
}

test.each([1, 2, 3, 4, 5, 6])('[CM1] [WT4] one holder per path, always (seed %i)', (seed) => {
  const chance = createChance(seed);
  const context = {
    claimsPerAgent: null,
    presenceOf: (agent: string) => (/[67]$/.test(agent) ? 'absent' : 'present'),
  } as const;
  let book = thawClaims({ counter: 0, claims: [], waits: [], inherited: [], keys: [] });
  let twin = book;
  let at = 1_000_000;
  let epoch = 0;
  const counts: Record<string, number> = {};
  for (let step = 0; step < 1500; step++) {
    at += chance.isLikely(0.02) ? 100_000 : chance.int(0, 500);
    if (chance.isLikely(0.05)) twin = thawClaims(JSON.parse(JSON.stringify(freezeClaims(book))));
    const command = drawCommand(chance, book, at);
    for (let next = nextExpiry(book); next !== null && next <= at; next = nextExpiry(book)) {
      const lapsed = expireClaims(book, at);
      if (twin !== book) expect(expireClaims(twin, at)).toEqual(lapsed);
      for (const one of new Set([book, twin])) for (const event of lapsed) evolveClaims(one, event);
    }
    const decision = decideClaim(book, command, context);
    if (twin !== book) {
      // Of several claims in the way a refusal may show others: which are met first is no promise.
      const same = decideClaim(twin, command, context);
      if ('refused' in decision) expect(codeOf(same)).toBe(decision.refused);
      else expect(same).toEqual(decision);
    }
    const name = `${command.type} ${codeOf(decision) ?? 'ok'}`;
    counts[name] = (counts[name] ?? 0) + 1;
    if ('refused' in decision) {
      const { id, holder } = decision.detail ?? {};
      if (decision.refused === 'claim.held' || decision.refused === 'claim.overlap') {
        expect(book.claims.get(id as string)?.owner).toBe(holder);
      }
      if (decision.refused === 'claim.reserved') {
        expect(
          [...book.waits.values()].some((wait) => wait.isReserved && wait.agent === holder),
        ).toBe(true);
      }
      continue;
    }
    for (const event of decision.events) {
      for (const one of new Set([book, twin])) evolveClaims(one, event);
      ownersByPath(book);
      counts[event.type] = (counts[event.type] ?? 0) + 1;
      if (event.type === 'claim.taken' || event.type === 'claim.handed-off') {
        expect(event.epoch).toBeGreaterThan(epoch);
        epoch = event.epoch;
      }
    }
    if (decision.events.length > 0 && ANSWERS_WITH_CLAIM.has(command.type) && 'id' in command) {
      const { claim = decision.answer } = decision.answer as { claim?: unknown };
      expect(viewClaim(book.claims.get(command.id as string) as Claim)).toEqual(claim);
    }
    checkWaits(book, ownersByPath(book));
    const held = [...book.claims.values()];
    expect([...book.counts.values()].reduce((sum, count) => sum + count, 0)).toBe(held.length);
    expect(book.due.size).toBe(held.length + book.waits.size);
    if (twin !== book) expect(freezeClaims(twin)).toEqual(freezeClaims(book));
    if (chance.isLikely(0.02)) book = twin;
  }
  // The story must have been told: every kind of command was carried out, and the telling refusals met.
  for (const name of [
    'claim.take ok',
    'claim.renew ok',
    'claim.update ok',
    'claim.checkpoint ok',
    'claim.hand-off ok',
    'claim.handed-off',
    'claim.release ok',
    'claim.wait ok',
    'claim.unwait ok',
    'claim.take claim.overlap',
    'claim.wait claim.cycle',
    'claim.take claim.reserved',
    'claim.update claim.fenced',
    'claim.hand-off claim.recipient-absent',
  ]) {
    expect([name, (counts[name] ?? 0) > 0]).toEqual([name, true]);
  }
});

test('[CM1] a race of 64 for one claim has one winner, and every loser learns who', () => {
  for (const seed of [1, 2, 3]) {
    const chance = createChance(seed);
    const story = createClaimStory();
    const order = [...AGENTS].sort(() => chance.next() - 0.5);
    const isSameId = chance.isLikely(0.5);
    const answers = order.map((agent) =>
      story.tryTake(agent, isSameId ? 'prize' : agent, 'src/**'),
    );
    const winners = order.filter((_, i) => codeOf(answers[i]) === null);
    expect(winners).toEqual([order[0]]);
    for (const answer of answers.slice(1)) expect(refusalOf(answer).detail?.holder).toBe(order[0]);
  }
});

test('[CM13] a thawed book is the book', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src/**', 'Docs');
  story.ask('ada', 'claim.checkpoint', {
    id: 't',
    checkpoint: 'x',
    idempotency: { key: 'k', digest: 'd' },
  });
  story.ask('bob', 'claim.wait', { id: 't' });
  story.ask('eve', 'claim.wait', { scope: scopeOf('lib') });
  const frozen = freezeClaims(story.book);
  const thawed = thawClaims(JSON.parse(JSON.stringify(frozen)));
  expect(freezeClaims(thawed)).toEqual(frozen);
  expect([nextExpiry(thawed), thawed.counts]).toEqual([nextExpiry(story.book), story.book.counts]);
  const again = createClaimStory(thawed, story.at);
  expect(again.tryTake('bob', 'u', 'docs/x')).toEqual(story.tryTake('bob', 'u', 'docs/x'));
});
