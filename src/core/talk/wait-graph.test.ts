import { expect, test } from 'vitest';
import { findDeadlocked } from './wait-graph.ts';

/** `a>b,c` is a question of a that b or c could answer. */
function deadlocked(...lines: string[]): string[] {
  const questions = lines.map((line) => {
    const [asker = '', answerers = ''] = line.split('>');
    return { asker, answerers: answerers.split(',') };
  });
  return [...findDeadlocked(questions)].sort();
}

test('[R14] a circle is deadlocked, and a chain is not', () => {
  expect(deadlocked('a>b', 'b>a')).toEqual(['a', 'b']);
  expect(deadlocked('a>b', 'b>c', 'c>a')).toEqual(['a', 'b', 'c']);
  expect(deadlocked('a>b', 'b>c')).toEqual([]);
  expect(deadlocked()).toEqual([]);
});

test('[R14] one who could still answer opens the circle', () => {
  expect(deadlocked('a>b,free', 'b>a')).toEqual([]);
  expect(deadlocked('a>b,c', 'b>a', 'c>a')).toEqual(['a', 'b', 'c']);
});

test('[R14] one question that cannot be answered is enough, whatever else was asked', () => {
  expect(deadlocked('a>b', 'a>free', 'b>a')).toEqual(['a', 'b']);
});

test('[R14] who waits for a circle is caught as well', () => {
  expect(deadlocked('a>b', 'b>a', 'd>a')).toEqual(['a', 'b', 'd']);
});
