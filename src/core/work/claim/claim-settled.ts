/**
 * The book as it will be once what has lapsed is on record. A command may be stamped after a
 * lapse and come before the tick that records it; it is decided against this view, which costs
 * what has lapsed and not what is alive. Nothing in the book is changed.
 */

import type { View } from '../../law/view.ts';
import type { ClaimExpired, WaitEnded, WaitReserved } from './claim-events.ts';
import type { Claim, ClaimBook, ClaimReader, Inherited, Wait } from './claim-state.ts';
import type { Found, Searchable } from './scope-index.ts';

export function settledView(
  book: View<ClaimBook>,
  lapsed: readonly (ClaimExpired | WaitEnded | WaitReserved)[],
): ClaimReader {
  const gone = new Map<string, Claim>();
  const waits = new Map<number, Wait | null>();
  for (const event of lapsed) {
    if (event.type === 'claim.expired') {
      const claim = book.claims.get(event.id);
      if (claim !== undefined) gone.set(event.id, claim);
    } else {
      const wait = book.waits.get(event.number);
      if (wait === undefined) continue;
      const isEnded = event.type === 'wait.ended';
      waits.set(wait.number, isEnded ? null : { ...wait, isReserved: true, dueAt: event.until });
    }
  }
  const endedCount = lapsed.filter(({ type }) => type === 'wait.ended').length;
  /** The wait as it will be, or null when it will have ended. */
  const later = (wait: Wait): Wait | null => {
    const changed = waits.get(wait.number);
    return changed === undefined ? wait : changed;
  };
  return {
    counter: book.counter,
    keys: book.keys,
    claims: {
      size: book.claims.size - gone.size,
      get: (id) => (gone.has(id) ? undefined : book.claims.get(id)),
    },
    counts: {
      get(agent) {
        let count = book.counts.get(agent) ?? 0;
        for (const claim of gone.values()) if (claim.owner === agent) count--;
        return count;
      },
    },
    inherited: {
      get: (id) => leftBy(gone.get(id)) ?? book.inherited.get(id),
    },
    waits: { size: book.waits.size - endedCount },
    waitsByAgent: { get: (agent) => changedSet(book.waitsByAgent.get(agent), later) },
    waitsById: { get: (id) => changedSet(book.waitsById.get(id), later) },
    held: {
      get: (worktree) =>
        changedIndex(book.held.get(worktree), (claim) => (gone.has(claim.id) ? null : claim)),
    },
    wanted: { get: (worktree) => changedIndex(book.wanted.get(worktree), later) },
  };
}

function leftBy(claim: Claim | undefined): Inherited | null {
  if (claim === undefined || claim.checkpoint === null) return null;
  return { checkpoint: claim.checkpoint, from: claim.owner, at: claim.dueAt };
}

function changedSet(
  waits: ReadonlySet<Wait> | undefined,
  later: (wait: Wait) => Wait | null,
): ReadonlySet<Wait> | undefined {
  if (waits === undefined) return undefined;
  return new Set([...waits].map(later).filter((wait) => wait !== null));
}

function changedIndex<Holder>(
  index: Searchable<Holder> | undefined,
  later: (holder: Holder) => Holder | null,
): Searchable<Holder> | undefined {
  if (index === undefined) return undefined;
  return {
    find(patterns, search = {}) {
      const { skip, onFound, limit } = search;
      const found = index.find(patterns, {
        skip(holder) {
          const now = later(holder);
          return now === null || skip?.(now) === true;
        },
        onFound: (holder) => onFound?.(later(holder) ?? holder),
        ...(limit !== undefined && { limit }),
      });
      return found.map(
        (one): Found<Holder> => ({ ...one, holder: later(one.holder) ?? one.holder }),
      );
    },
  };
}
