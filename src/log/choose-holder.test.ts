import { expect, test } from 'vitest';
import { rankServers } from './choose-holder.ts';

const SPACES = Array.from({ length: 3_000 }, (_, i) => `space-${i}`);
const holderOf = (space: string, servers: readonly string[]) => rankServers(space, servers)[0];

test('[SQ8] every server is ranked once, and the order in which they are known says nothing', () => {
  expect(rankServers('x', [])).toEqual([]);
  for (const space of SPACES.slice(0, 50)) {
    const ranked = rankServers(space, ['a', 'b', 'c']);
    expect(ranked.toSorted()).toEqual(['a', 'b', 'c']);
    expect(rankServers(space, ['c', 'a', 'b'])).toEqual(ranked);
  }
});

test('[SQ8] spaces are spread evenly, also over servers whose names differ in one letter', () => {
  const counts = new Map<string, number>();
  for (const space of SPACES) {
    const holder = holderOf(space, ['server-1', 'server-2', 'server-3']) as string;
    counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  expect(counts.size).toBe(3);
});

test('[SQ8] when a server comes or goes, only what it gains or had moves', () => {
  const two = ['a', 'b'];
  const three = ['a', 'b', 'c'];
  let moved = 0;
  for (const space of SPACES) {
    const before = holderOf(space, two);
    const after = holderOf(space, three);
    if (before === after) continue;
    expect(after).toBe('c');
    moved++;
  }
  expect(moved).toBeGreaterThan(850);
  expect(moved).toBeLessThan(1_150);
});
