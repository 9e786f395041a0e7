/**
 * Reply chains: how many hops a message lies from the last word of a person. A message that an agent
 * sends in a turn without saying what it replies to still follows from what the turn was begun
 * for, so leaving `reply_to` out does not start anew. After `hops` of the limits a message is delivered
 * and wakes nobody, and its thread needs a person [RA3]; a person's word in the thread
 * begins the count again [RA12].
 */
import { FifoMap } from '../../law/fifo-map.ts';
import { CHAINS_KEPT, THREADS_KEPT } from './bounds.ts';

export interface Chain {
  /** The position of the thread's first message. */
  readonly root: number;
  readonly hops: number;
  readonly by: string;
  /** Its sender waits for an answer to it. */
  readonly isAsking: boolean;
}

/** What is known of a thread beyond its messages. */
export interface Thread {
  /** Where a person spoke last; -1 if nobody did. */
  readonly personAt: number;
  /** Since when it needs a person, with the position that said so. */
  readonly needs: { readonly since: number; readonly position: number } | null;
}

export interface ChainBook {
  /** By position; the oldest are forgotten first, and a reply to one of those begins a thread. */
  readonly chains: FifoMap<number, Chain>;
  readonly threads: FifoMap<number, Thread>;
}

export interface Said {
  readonly position: number;
  readonly by: string;
  readonly isPerson: boolean;
  readonly isAsking: boolean;
  /** What it replies to, or what the turn it was sent in was begun for. */
  readonly causes: readonly number[];
}

export function createChains(): ChainBook {
  return { chains: new FifoMap(), threads: new FifoMap() };
}

export function enterSaid(book: ChainBook, said: Said): Chain {
  const { position, isPerson, by, isAsking } = said;
  const chain = { ...chainAfter(book, said), by, isAsking };
  bounded(book.chains, CHAINS_KEPT).set(position, chain);
  if (isPerson) {
    bounded(book.threads, THREADS_KEPT).set(chain.root, { personAt: position, needs: null });
  }
  return chain;
}

/** The thread of a message; one that is not known began its own. */
export function rootOf(
  book: { readonly chains: ReadonlyMap<number, Chain> },
  position: number,
): number {
  return book.chains.get(position)?.root ?? position;
}

/** Marks the thread; false when it is marked already. */
export function markNeedy(book: ChainBook, root: number, position: number, at: number): boolean {
  const known = book.threads.get(root);
  if (known?.needs != null) return false;
  bounded(book.threads, THREADS_KEPT).set(root, {
    personAt: known?.personAt ?? -1,
    needs: { since: at, position },
  });
  return true;
}

function chainAfter(
  book: ChainBook,
  { position, isPerson, causes }: Said,
): Pick<Chain, 'root' | 'hops'> {
  let longest: Pick<Chain, 'root' | 'hops'> | null = null;
  for (const cause of causes) {
    const { root = cause, hops = 0 } = book.chains.get(cause) ?? {};
    // A person spoke in the thread since: what lies before counts no more.
    const before = (book.threads.get(root)?.personAt ?? -1) > cause ? 0 : hops;
    if (longest === null || before + 1 > longest.hops) longest = { root, hops: before + 1 };
  }
  if (longest === null) return { root: position, hops: 0 };
  return isPerson ? { root: longest.root, hops: 0 } : longest;
}

function bounded<V>(map: FifoMap<number, V>, max: number): FifoMap<number, V> {
  if (map.size >= max && map.oldest !== undefined) map.delete(map.oldest);
  return map;
}
