/**
 * The book of claims: who holds what until when, who waits for what, and what the next holder
 * of an id inherits. Only `evolveClaims` changes it. One counter numbers epochs and places
 * in the queue, so whatever is newer is greater and nothing ever goes back.
 */
import { Heap, type Heaped } from '../../law/heap.ts';
import type { View } from '../../law/view.ts';
import { Register } from './register.ts';
import type { Scope } from './scope.ts';
import { ScopeIndex } from './scope-index.ts';

export type ClaimStatus = 'claimed' | 'working' | 'input_required' | 'done' | 'failed';

interface Dated extends Heaped {
  /** Milliseconds since the epoch. */
  dueAt: number;
}

export interface Claim extends Dated {
  readonly kind: 'claim';
  readonly id: string;
  owner: string;
  /** Null for work that touches no file. */
  scope: Scope | null;
  status: ClaimStatus;
  note: string | null;
  /** Where the work itself lies; opaque. */
  dataRef: string | null;
  /** What a git-minded client recorded (base, release policy); opaque. */
  git: string | null;
  checkpoint: string | null;
  epoch: number;
  /** Changes since it was taken. */
  version: number;
  readonly claimedAt: number;
  ttlMs: number;
  /** To whom its holder would give it; binds nobody. */
  offer: Offered | null;
}

export interface Offered {
  readonly to: string;
  readonly note: string | null;
  readonly ttlMs: number | null;
}

export interface Wait extends Dated {
  readonly kind: 'wait';
  /** Its name, and its place in the queue. */
  readonly number: number;
  readonly agent: string;
  readonly id: string | null;
  readonly scope: Scope | null;
  readonly since: number;
  /** When the wait itself lapses; `dueAt` is sooner while the scope is reserved. */
  until: number;
  isReserved: boolean;
}

/** What is left of a claim whose work is not done. */
export interface Inherited {
  readonly checkpoint: string;
  readonly from: string;
  readonly at: number;
}

/** What one agent left, oldest first. */
export interface Legacy {
  chars: number;
  readonly ids: Set<string>;
}

export interface KeptAnswer {
  readonly digest: string;
  readonly answer: unknown;
}

export interface ClaimBook {
  /** The greatest number given out so far. */
  counter: number;
  readonly claims: Register<Claim>;
  readonly counts: Map<string, number>;
  readonly inherited: Map<string, Inherited>;
  inheritedChars: number;
  readonly legacies: Map<string, Legacy>;
  readonly waits: Map<number, Wait>;
  readonly waitsByAgent: Map<string, Set<Wait>>;
  readonly waitsById: Map<string, Set<Wait>>;
  /** By sender, command and key, oldest first; `keysBySender` holds the same names. */
  readonly keys: Map<string, KeptAnswer>;
  readonly keysBySender: Map<string, Set<string>>;
  readonly due: Heap<Claim | Wait>;
  readonly held: Map<string, ScopeIndex<Claim>>;
  readonly wanted: Map<string, ScopeIndex<Wait>>;
}

export type BookView = View<ClaimBook>;

export function createClaimBook(): ClaimBook {
  return {
    counter: 0,
    claims: new Register(),
    counts: new Map(),
    inherited: new Map(),
    inheritedChars: 0,
    legacies: new Map(),
    waits: new Map(),
    waitsByAgent: new Map(),
    waitsById: new Map(),
    keys: new Map(),
    keysBySender: new Map(),
    due: new Heap(isSooner),
    held: new Map(),
    wanted: new Map(),
  };
}

/** By time, then by the number each was given: the same book lapses in the same order everywhere. */
function isSooner(a: Claim | Wait, b: Claim | Wait): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && numberOf(a) < numberOf(b));
}

function numberOf(item: Claim | Wait): number {
  return item.kind === 'claim' ? item.epoch : item.number;
}

/** A claim as the world may see it: plain, and a copy. */
export type ClaimView = Readonly<Omit<Claim, 'kind' | keyof Dated>> & {
  readonly lapsesAt: number;
};

export function viewClaim(claim: Claim): ClaimView {
  const { kind: _kind, dueAt, heapIndex: _index, ...view } = claim;
  return { ...view, lapsesAt: dueAt };
}

/** For evolve: the index of a worktree, made on first use. */
export function indexOf<Holder extends object>(
  indexes: Map<string, ScopeIndex<Holder>>,
  worktree: string,
): ScopeIndex<Holder> {
  let index = indexes.get(worktree);
  if (index === undefined) {
    index = new ScopeIndex();
    indexes.set(worktree, index);
  }
  return index;
}
