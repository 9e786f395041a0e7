/** Two who take one name over at two servers at once: one of them keeps it, whatever order the words come in. */
import { expect, test } from 'vitest';
import { createTakenNames, type TakenNames } from './taken-names.ts';
import type { NameTaken } from './whisper.ts';

let now = 0;
const open = (server: string): TakenNames => createTakenNames(() => server, { now: () => now });
const said = (names: TakenNames): NameTaken[] => [...names.drain(() => true)];

test('[SQ19] of two takeovers that crossed, one gives way at either server', () => {
  const [a, b, c] = [open('a'), open('b'), open('c')];
  a.take('ada');
  b.take('ada');
  const [fromA, fromB] = [said(a)[0] as NameTaken, said(b)[0] as NameTaken];
  expect([a.hear(fromB), b.hear(fromA)]).toEqual([false, true]);
  // A third hears the two in any order, and whoever bore the name there gave it up with the first.
  expect([c.hear(fromB), c.hear(fromA), c.hear(fromB)]).toEqual([true, true, false]);
  // The one that stays says so once more; who knows it does nothing.
  const again = said(a);
  expect(again).toEqual([fromA]);
  expect(b.hear(fromA)).toBe(false);
  expect([a.size, b.size]).toEqual([0, 0]);
});

test('[SQ19] a takeover that knew of the one before it stays, whatever the names of the servers', () => {
  const [a, b] = [open('a'), open('b')];
  a.take('ada');
  const first = said(a)[0] as NameTaken;
  expect(b.hear(first)).toBe(true);
  b.take('ada');
  const second = said(b)[0] as NameTaken;
  expect(a.hear(second)).toBe(true);
  // Late repetitions evict nobody.
  expect([b.hear(first), a.hear(second)]).toEqual([false, false]);
});

test('[SQ19] a takeover of long ago stands in nobody’s way', () => {
  const [a, z] = [open('a'), open('z')];
  a.take('ada');
  said(a);
  now += 60_000;
  z.take('ada');
  expect(a.hear(said(z)[0] as NameTaken)).toBe(true);
});

test('[SQ19] who knew nothing of a server when a name was taken there is told of it once it asks', () => {
  const [a, b, c] = [open('a'), open('b'), open('c')];
  for (const name of ['ada', 'bob', 'cy']) a.take(name);
  for (const word of said(a)) b.hear(word);
  b.take('bob');
  for (const word of said(b)) a.hear(word);
  // It is not borne any more, or was taken over elsewhere since: of that nobody is told.
  a.repeat((name) => name !== 'cy');
  const again = said(a);
  expect(again.map(({ name }) => name)).toEqual(['ada']);
  expect(again.map((word) => c.hear(word))).toEqual([true]);
  // Who had heard of it does nothing.
  expect(again.map((word) => b.hear(word))).toEqual([false]);
  now += 60_000;
  a.repeat(() => true);
  expect(a.size).toBe(0);
});
