/**
 * The book of claims as plain JSON and back, exactly: whatever is decided after thawing is what
 * would have been decided before. Indexes are not kept but made again.
 */

import type { View } from '../../law/view.ts';
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

export interface FrozenClaims {
  readonly counter: number;
  readonly claims: readonly Omit<Claim, 'kind' | 'heapIndex'>[];
  readonly waits: readonly Omit<Wait, 'kind' | 'heapIndex'>[];
  readonly inherited: readonly (readonly [id: string, Inherited])[];
  readonly keys: readonly (readonly [name: string, KeptAnswer])[];
}

export function freezeClaims(book: View<ClaimBook>): FrozenClaims {
  return {
    counter: book.counter,
    claims: [...book.claims.values()]
      .sort((a, b) => a.epoch - b.epoch)
      .map(({ kind: _k, heapIndex: _i, ...claim }) => claim),
    waits: [...book.waits.values()].map(({ kind: _k, heapIndex: _i, ...wait }) => wait),
    inherited: [...book.inherited],
    keys: [...book.keys],
  };
}

export function thawClaims(frozen: FrozenClaims): ClaimBook {
  const book = createClaimBook();
  book.counter = frozen.counter;
  for (const claim of frozen.claims) addClaim(book, { ...claim, kind: 'claim', heapIndex: -1 });
  for (const wait of frozen.waits) addWait(book, { ...wait, kind: 'wait', heapIndex: -1 });
  for (const [id, inherited] of frozen.inherited) book.inherited.set(id, inherited);
  for (const [name, { digest, answer }] of frozen.keys) {
    const [by, command, key] = JSON.parse(name) as [string, ClaimCommand['type'], string];
    rememberAnswer(book, { by, command, key, digest, answer });
  }
  return book;
}
