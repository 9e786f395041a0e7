/**
 * The book of claims as plain JSON and back, exactly: whatever is decided after thawing is what
 * would have been decided before. Indexes are not kept but made again.
 */

import { fieldsOf } from '../../law/fields.ts';
import { readJson } from '../../law/json.ts';
import type { ClaimCommand } from './claim-events.ts';
import { addClaim, addWait, rememberAnswer } from './claim-evolve.ts';
import {
  type Claim,
  type ClaimBook,
  createClaimBook,
  type Inherited,
  type KeptAnswer,
  type Wait,
} from './claim-state.ts';
import { inherit } from './inheritance.ts';

const BOOK = fieldsOf<ClaimBook>()({
  counter: 'stored',
  claims: 'linked',
  counts: 'derived',
  inherited: 'linked',
  inheritedChars: 'derived',
  legacies: 'derived',
  waits: 'linked',
  waitsByAgent: 'derived',
  waitsById: 'derived',
  keys: 'linked',
  keysBySender: 'derived',
  due: 'derived',
  held: 'derived',
  wanted: 'derived',
});

const CLAIM = fieldsOf<Claim>()({
  kind: 'derived',
  id: 'stored',
  owner: 'stored',
  scope: 'stored',
  status: 'stored',
  note: 'stored',
  dataRef: 'stored',
  git: 'stored',
  checkpoint: 'stored',
  epoch: 'stored',
  version: 'stored',
  claimedAt: 'stored',
  ttlMs: 'stored',
  offer: 'stored',
  dueAt: 'stored',
  heapIndex: 'derived',
});

const WAIT = fieldsOf<Wait>()({
  kind: 'derived',
  number: 'stored',
  agent: 'stored',
  id: 'stored',
  scope: 'stored',
  since: 'stored',
  until: 'stored',
  isReserved: 'stored',
  dueAt: 'stored',
  heapIndex: 'derived',
});

interface FrozenClaims {
  readonly claims: readonly unknown[];
  readonly inherited: readonly (readonly [id: string, Inherited])[];
  readonly waits: readonly unknown[];
  readonly keys: readonly (readonly [name: string, KeptAnswer])[];
}

export function freezeClaims(book: ClaimBook): object {
  return BOOK.freeze(book, {
    claims: [...book.claims.values()]
      .sort((a, b) => a.epoch - b.epoch)
      .map((claim) => CLAIM.freeze(claim, {})),
    inherited: [...book.inherited],
    waits: Array.from(book.waits.values(), (wait) => WAIT.freeze(wait, {})),
    keys: [...book.keys],
  });
}

export function thawClaims(frozen: unknown): ClaimBook {
  const { claims, inherited, waits, keys } = frozen as FrozenClaims;
  const book = BOOK.thaw(frozen, createClaimBook());
  for (const claim of claims) addClaim(book, CLAIM.thaw(claim, { kind: 'claim', heapIndex: -1 }));
  for (const [id, left] of inherited) inherit(book, id, left);
  for (const wait of waits) addWait(book, WAIT.thaw(wait, { kind: 'wait', heapIndex: -1 }));
  for (const [name, { digest, answer }] of keys) {
    const [by, command, key] = readJson(name) as [string, ClaimCommand['type'], string];
    rememberAnswer(book, { by, command, key, digest, answer });
  }
  return book;
}
