import { expect, test } from 'vitest';
import { FifoMap } from '../../law/fifo-map.ts';
import { CHAINS_KEPT } from './bounds.ts';
import { type ChainBook, createChains, enterSaid, markNeedy, rootOf } from './chains.ts';
import { countBetween, enterPair, forgetPairsIn, type PairBook } from './pairs.ts';

function agentSays(book: ChainBook, position: number, ...causes: number[]): number {
  return enterSaid(book, { position, by: 'ann', isAsking: false, isPerson: false, causes }).hops;
}

function personSays(book: ChainBook, position: number, ...causes: number[]): number {
  return enterSaid(book, { position, by: 'pat', isAsking: false, isPerson: true, causes }).hops;
}

test('[RA3] each reply is one hop further from the thread’s first message', () => {
  const book = createChains();
  expect(agentSays(book, 10)).toBe(0);
  for (let hop = 1; hop <= 6; hop++) expect(agentSays(book, 10 + hop, 9 + hop)).toBe(hop);
  expect(book.chains.get(16)).toMatchObject({ root: 10, hops: 6 });
  // The furthest of several causes counts.
  expect(agentSays(book, 20, 12, 15)).toBe(6);
  expect(agentSays(book, 21)).toBe(0);
});

test('[RA12] a person’s word begins the count again, also for replies to what was said before it', () => {
  const book = createChains();
  agentSays(book, 0);
  for (let i = 1; i <= 6; i++) agentSays(book, i, i - 1);
  expect(markNeedy(book, 0, 6, 100)).toBe(true);
  expect(markNeedy(book, 0, 7, 101)).toBe(false);
  expect(personSays(book, 8, 3)).toBe(0);
  expect(book.threads.get(0)).toEqual({ personAt: 8, needs: null });
  expect(agentSays(book, 9, 6)).toBe(1);
  expect(agentSays(book, 10, 8)).toBe(1);
  expect(agentSays(book, 11, 9)).toBe(2);
  expect(rootOf(book, 11)).toBe(0);
});

test('[RA3] chains are bounded, and the oldest are forgotten first', () => {
  const book = createChains();
  for (let i = 1; i <= CHAINS_KEPT + 5; i++) agentSays(book, i, i - 1);
  expect(book.chains.size).toBe(CHAINS_KEPT);
  expect(rootOf(book, 3)).toBe(3);
});

test('[RA4] what two say to each other within a minute is counted, whoever speaks', () => {
  const book: PairBook = new FifoMap();
  for (let i = 0; i < 10; i++) {
    enterPair(book, i % 2 === 0 ? ['ann', 'bob'] : ['bob', 'ann'], { at: i * 1_000, root: 5 });
  }
  expect(countBetween(book, ['bob', 'ann'], 9_000)).toBe(10);
  expect(countBetween(book, ['bob', 'ann'], 62_500)).toBe(7);
  expect(countBetween(book, ['bob', 'cy'], 9_000)).toBe(0);
  forgetPairsIn(book, 5);
  expect(countBetween(book, ['bob', 'ann'], 9_000)).toBe(0);
});
