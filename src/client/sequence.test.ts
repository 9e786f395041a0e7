import { expect, test } from 'vitest';
import { createSequence } from './sequence.ts';

test('what arrives and who reads meet in order, whichever comes first', async () => {
  const sequence = createSequence<number>();
  const early = sequence.next();
  for (let i = 0; i < 5000; i++) sequence.push(i, 2);
  expect(await early).toEqual({ done: false, value: 0 });
  expect([sequence.size, sequence.chars]).toEqual([4999, 9998]);
  for (let i = 1; i < 5000; i++) expect((await sequence.next()).value).toBe(i);
  expect([sequence.size, sequence.chars]).toEqual([0, 0]);
});

test('a failure is told once, after what was held', async () => {
  const sequence = createSequence<number>();
  sequence.push(1, 1);
  sequence.fail(new Error('gone'));
  sequence.push(2, 1);
  expect((await sequence.next()).value).toBe(1);
  await expect(sequence.next()).rejects.toThrow('gone');
  expect((await sequence.next()).done).toBe(true);
});

test('a failure reaches one waiting reader, the end the others', async () => {
  const sequence = createSequence<number>();
  const first = sequence.next();
  const second = sequence.next();
  sequence.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  expect((await second).done).toBe(true);
  expect((await sequence.next()).done).toBe(true);
});

test('leaving drops what was held', async () => {
  const sequence = createSequence<number>();
  sequence.push(1, 1);
  sequence.stop();
  expect(sequence.size).toBe(0);
  expect((await sequence.next()).done).toBe(true);
});
